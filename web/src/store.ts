// What the reader has chosen, and the report itself: one owner, to which all sections listen.

import type { Range } from './curves';
import { hasValues } from './data';
import type { Report, Run } from './data';
import { asGiven } from './order';
import type { Order } from './order';
import { tracesOf } from './traces';
import type { Trace } from './traces';
import { largerIsBetter, nameColumns, xColumns } from './words';

export interface PanelView { x: string; y: string; logX: boolean; logY: boolean }

export type Topic = 'data' | 'shown' | 'view' | 'zoom' | 'order' | 'highlight' | 'sites';

export class Store {
  report: Report;
  shown: boolean[];
  bands: boolean;
  /** Rows on each side that a smoothed value is the mean of. */
  smoothing = 0;
  views: PanelView[] = [];
  order: Order = asGiven;
  highlighted: number | null = null;
  private traces_: Trace[] | null = null;
  private readonly listeners = new Map<Topic, (() => void)[]>();
  /** On the axes: panels with the same column on an axis share its window. */
  private readonly windows = new Map<string, Range>();

  constructor(report: Report) {
    this.report = report;
    this.shown = report.runs.map(() => true);
    this.bands = report.groups.length > 0;
    nameColumns(report.columns);
  }

  on(topics: Topic[], listener: () => void): void {
    for (const topic of topics) {
      this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
    }
  }

  tell(topic: Topic): void {
    for (const listener of this.listeners.get(topic) ?? []) listener();
  }

  get runs(): Run[] { return this.report.runs; }

  get traces(): Trace[] {
    this.traces_ ??= tracesOf(this.report, this.bands);
    return this.traces_;
  }

  isShown(trace: Trace): boolean { return trace.runs.some((run) => this.shown[run]); }

  show(runs: number[], shown: boolean): void {
    for (const run of runs) this.shown[run] = shown;
    this.tell('shown');
  }

  showOnly(runs: number[]): void {
    this.shown = this.runs.map((_, i) => runs.includes(i));
    this.tell('shown');
  }

  setBands(bands: boolean): void {
    this.bands = bands;
    this.highlighted = null;
    this.traces_ = null;
    this.tell('view');
  }

  setSmoothing(reach: number): void {
    this.smoothing = reach;
    this.tell('view');
  }

  setView(panels: number[], change: Partial<PanelView>): void {
    for (const panel of panels) this.views[panel] = { ...this.views[panel]!, ...change };
    this.tell('view');
  }

  setOrder(change: Partial<Order>): void {
    this.order = { ...this.order, ...change };
    this.tell('order');
  }

  highlight(trace: number | null): void {
    if (trace === this.highlighted) return;
    this.highlighted = trace;
    this.tell('highlight');
  }

  private axis(kind: 'x' | 'y', view: PanelView): string {
    const log = kind === 'x' ? view.logX : view.logY;
    return `${kind} ${kind === 'x' ? view.x : view.y} ${log ? 'log' : ''}`;
  }

  window(kind: 'x' | 'y', view: PanelView): Range | null {
    return this.windows.get(this.axis(kind, view)) ?? null;
  }

  zoom(view: PanelView, x: Range | null, y: Range | null): void {
    for (const [kind, range] of [['x', x], ['y', y]] as const) {
      if (range === null) this.windows.delete(this.axis(kind, view));
      else this.windows.set(this.axis(kind, view), range);
    }
    this.tell('zoom');
  }

  resetZoom(): void {
    this.windows.clear();
    this.tell('zoom');
  }

  /** Rows were added to the runs of this report. */
  grew(): void {
    this.traces_ = null;
    this.tell('data');
  }

  /** Another state of the same work: what the reader has chosen stays, run by run. */
  replace(report: Report): void {
    const hidden = new Set(this.runs.filter((_, i) => !this.shown[i]).map((run) => run.folder));
    if (this.report.groups.length === 0 && report.groups.length > 0) this.bands = true;
    if (report.groups.length === 0) this.bands = false;
    this.report = report;
    this.shown = report.runs.map((run) => !hidden.has(run.folder));
    this.highlighted = null;
    this.traces_ = null;
    nameColumns(report.columns);
    this.tell('data');
  }

  xChoices(): string[] { return xColumns.filter((column) => this.report.columns.has(column)); }

  /** The columns that some run has a value in. */
  metrics(): string[] {
    return [...this.report.columns.keys()].filter((column) => !xColumns.includes(column) &&
      this.runs.some((run) => hasValues(run, column)));
  }
}

export const defaultLog = (metric: string): boolean => !largerIsBetter(metric);
