// One drawing of uPlot: the curves of all runs for one metric against one x column.
// The ranges are kept here and not in uPlot, so that zoom, toggles and resets have one owner.

import uPlot from 'uplot';
import { curveOf, nearestPoint, shownPoints, xExtent, yExtent } from './curves';
import type { Point, Range } from './curves';
import { blewUp } from './data';
import type { Run } from './data';
import type { Reading } from './readout';
import { colorOf, dashOf, drawMarker } from './marks';
import { isDark, themeColor } from './theme';
import { linearTicks, logTicks, tickLabels } from './ticks';

export interface View { xColumn: string; yColumn: string; logX: boolean; logY: boolean }

export interface PlotEvents {
  /** The readings under the cursor, and the run whose curve is nearest; null: no cursor. */
  onCursor(readings: Reading[] | null, near: number | null): void;
  onRange(x: Range, y: Range, zoomed: boolean): void;
}

const markerSpacing = 64;
const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export class Plot {
  readonly points: Point[][];
  private readonly chart: uPlot;
  private readonly blewUp: boolean[];
  private readonly positions = new Map<number, number>();
  private zoom: { x: Range; y: Range | null } | null = null;
  /** Set by the keyboard: the exact x of the cursor, which a pixel position would round. */
  private exactX: number | null = null;

  constructor(
    parent: HTMLElement, private readonly runs: Run[], private readonly view: View,
    private visible: boolean[], private readonly events: PlotEvents,
  ) {
    const curves = runs.map((run) =>
      curveOf(run, view.xColumn, view.yColumn, view.logX, view.logY));
    this.points = curves.map(shownPoints);
    this.blewUp = runs.map(blewUp);
    // Runs log at x values of their own: join lines them up on one x column and keeps real gaps
    // (null) apart from places where a run merely has no point.
    const data = uPlot.join(curves.map((c) => [c.x, c.y] as uPlot.AlignedData));
    (data[0] as number[]).forEach((x, i) => this.positions.set(x, i));
    this.chart = new uPlot(this.options(parent), data, parent);
    this.chart.over.addEventListener('mousemove', () => { this.exactX = null; }, true);
    this.chart.over.addEventListener('dblclick', () => this.resetZoom());
  }

  destroy(): void {
    this.chart.destroy();
  }

  get hasPoints(): boolean {
    return this.points.some((points) => points.length > 0);
  }

  resize(width: number, height: number): void {
    if (width !== this.chart.width || height !== this.chart.height) {
      this.chart.setSize({ width, height });
    }
  }

  redraw(): void {
    this.chart.redraw(true, true);
  }

  setVisible(shown: boolean[]): void {
    this.visible = shown;
    this.chart.batch(() => {
      shown.forEach((show, run) => this.chart.setSeries(run + 1, { show }));
    });
    this.applyRanges();
  }

  resetZoom(): void {
    this.zoom = null;
    this.applyRanges();
  }

  /** Zooms x about the cursor or the middle; a factor below 1 zooms in. */
  zoomBy(factor: number): void {
    const { logX } = this.view;
    const [low, high] = this.xRange().map((v) => (logX ? Math.log(v) : v)) as Range;
    const at = this.exactX;
    const centre = at === null ? (low + high) / 2 : logX ? Math.log(at) : at;
    const back = (v: number): number => (logX ? Math.exp(v) : v);
    const [fullLow, fullHigh] = xExtent(this.points, logX);
    const x: Range = [Math.max(fullLow, back(centre - (centre - low) * factor)),
      Math.min(fullHigh, back(centre + (high - centre) * factor))];
    this.zoom = x[0] <= fullLow && x[1] >= fullHigh ? null : { x, y: this.zoom?.y ?? null };
    this.applyRanges();
  }

  /** Puts the cursor exactly on a point. */
  point(at: Point): void {
    this.exactX = at.x;
    this.chart.setCursor({ left: this.chart.valToPos(at.x, 'x'), top: this.chart.valToPos(at.y, 'y') });
  }

  clearCursor(): void {
    this.exactX = null;
    this.chart.setCursor({ left: -10, top: -10 });
  }

  private xRange(): Range {
    return this.zoom?.x ?? xExtent(this.points, this.view.logX);
  }

  private yRange(): Range {
    return this.zoom?.y ??
      yExtent(this.points, this.visible, this.blewUp, this.xRange(), this.view.logY);
  }

  private applyRanges(): void {
    const [x, y] = [this.xRange(), this.yRange()];
    this.chart.batch(() => {
      this.chart.setScale('x', { min: x[0], max: x[1] });
      this.chart.setScale('y', { min: y[0], max: y[1] });
    });
    this.events.onRange(x, y, this.zoom !== null);
  }

  private nearest(run: number, x: number): Point | null {
    return nearestPoint(this.points[run]!, x, this.view.logX);
  }

  private cursorX(chart: uPlot): number {
    return this.exactX ?? chart.posToVal(chart.cursor.left ?? 0, 'x');
  }

  private readonly onSelect = (chart: uPlot): void => {
    const { left, top, width, height } = chart.select;
    if (width < 3 && height < 3) return;
    const all = { width: chart.over.clientWidth, height: chart.over.clientHeight };
    const x: Range = width >= all.width - 1 ? this.xRange()
      : [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')];
    // A drag along x alone selects the full height: y then follows the data in the window.
    const y: Range | null = height >= all.height - 1 ? null
      : [chart.posToVal(top + height, 'y'), chart.posToVal(top, 'y')];
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoom = { x, y };
    this.applyRanges();
  };

  private readonly onCursor = (chart: uPlot): void => {
    const { left, top } = chart.cursor;
    if (left === undefined || left < 0 || top === undefined) {
      this.events.onCursor(null, null);
      return;
    }
    const x = this.cursorX(chart);
    const readings: Reading[] = [];
    let near: number | null = null;
    let distance = Infinity;
    this.points.forEach((_, run) => {
      const point = this.visible[run] ? this.nearest(run, x) : null;
      if (point === null) return;
      readings.push({ run, point });
      const away = Math.hypot(chart.valToPos(point.y, 'y') - top, chart.valToPos(point.x, 'x') - left);
      if (away < distance) [distance, near] = [away, run];
    });
    this.events.onCursor(readings, near);
  };

  /** Markers a fixed distance apart, and shifted from run to run so that they do not pile up. */
  private readonly onSeriesDrawn = (chart: uPlot, series: number): void => {
    const run = this.runs[series - 1];
    if (!run || !this.visible[series - 1]) return;
    const { ctx: context, bbox } = chart;
    const spacing = markerSpacing * uPlot.pxRatio;
    const color = colorOf(run, isDark());
    const background = themeColor('paper');
    let next = bbox.left + (((series - 1) * 23) % markerSpacing) * uPlot.pxRatio;
    context.save();
    context.beginPath();
    context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    context.clip();
    const points = this.points[series - 1]!;
    points.forEach((point, i) => {
      const x = chart.valToPos(point.x, 'x', true);
      if (x < next && !(i === points.length - 1)) return;
      next = x + spacing;
      drawMarker(context, run, x, chart.valToPos(point.y, 'y', true), uPlot.pxRatio, color, background);
    });
    context.restore();
  };

  private axis(log: boolean, across: boolean): uPlot.Axis {
    const spacing = across ? 52 : 30;
    return {
      font,
      stroke: () => themeColor('ink-soft'),
      grid: { stroke: () => themeColor('grid'), width: 1 },
      ticks: { show: false },
      gap: 6,
      size: across ? 24 : 62,
      splits: (chart, _axis, min, max) => {
        const length = (across ? chart.bbox.width : chart.bbox.height) / uPlot.pxRatio;
        const most = Math.max(2, Math.floor(length / spacing));
        return log ? logTicks(min, max, most) : linearTicks(min, max, most);
      },
      filter: (_chart, splits) => splits,
      values: (_chart, splits) => tickLabels(splits),
    };
  }

  private options(parent: HTMLElement): uPlot.Options {
    const { logX, logY } = this.view;
    const series = this.runs.map((run, i): uPlot.Series => ({
      label: run.label,
      show: this.visible[i] ?? true,
      stroke: () => colorOf(run, isDark()),
      width: 1.6,
      dash: dashOf(run).map((d) => d * uPlot.pxRatio),
      points: { show: false },
    }));
    return {
      width: Math.max(200, parent.clientWidth),
      height: Math.max(160, parent.clientHeight),
      padding: [8, 12, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, distr: logX ? 3 : 1, range: () => this.xRange() },
        y: { distr: logY ? 3 : 1, range: () => this.yRange() },
      },
      axes: [this.axis(logX, true), this.axis(logY, false)],
      series: [{}, ...series],
      cursor: {
        drag: { x: true, y: true, uni: 24, setScale: false },
        bind: { dblclick: () => null },
        points: { size: 9, width: 2, fill: () => themeColor('paper') },
        dataIdx: (chart, series, index) => {
          if (series === 0) return index;
          const point = this.nearest(series - 1, this.cursorX(chart));
          return point === null ? null : this.positions.get(point.x) ?? null;
        },
      },
      hooks: {
        ready: [() => this.events.onRange(this.xRange(), this.yRange(), false)],
        setSelect: [this.onSelect],
        setCursor: [this.onCursor],
        drawSeries: [this.onSeriesDrawn],
      },
    };
  }
}
