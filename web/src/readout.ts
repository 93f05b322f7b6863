// The values under the cursor: for the nearest traces their nearest rows, as in metrics.csv.

import { html } from './dom';
import { lineSample } from './marks';
import type { Trace } from './traces';
import { short } from './words';

export interface Reading { trace: number; x: number; y: number; low?: number; high?: number; away: number }

/** With its head and the line that counts the others the box has at most twelve lines. */
export const mostRead = 10;

export class Readout {
  readonly element: HTMLElement;
  private readonly body = html('tbody');
  private readonly xHead = html('th', { scope: 'col' });
  private readonly yHead = html('th', { scope: 'col' });
  private readonly more = html('p', { class: 'more' });
  private rows = new Map<number, HTMLTableRowElement>();
  private traces: Trace[] = [];

  constructor() {
    this.element = html('div', { class: 'readout', hidden: true },
      html('table', {},
        html('thead', {}, html('tr', {}, html('th', { scope: 'col' }, 'run'), this.xHead, this.yHead)),
        this.body), this.more);
  }

  setTraces(traces: Trace[], xWords: string, yWords: string): void {
    this.traces = traces;
    this.rows = new Map();
    this.xHead.textContent = xWords;
    this.yHead.textContent = yWords;
  }

  /** The nearest to the cursor, from the highest value to the lowest like the curves. */
  show(readings: Reading[], near: number | null): void {
    // The trace that the keyboard follows is always among them.
    const distance = (r: Reading): number => (r.trace === near ? -1 : r.away);
    const nearest = [...readings].sort((a, b) => distance(a) - distance(b)).slice(0, mostRead)
      .sort((a, b) => b.y - a.y);
    this.body.replaceChildren(...nearest.map((reading) => this.row(reading, reading.trace === near)));
    const others = readings.length - nearest.length;
    this.more.textContent = others > 0 ? `and ${others} more` : '';
    this.more.hidden = others === 0;
    this.element.hidden = nearest.length === 0;
  }

  hide(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.body.replaceChildren();
  }

  private row(reading: Reading, near: boolean): HTMLTableRowElement {
    const { trace, x, y, low, high } = reading;
    const shown = this.traces[trace]!;
    let row = this.rows.get(trace);
    if (!row) {
      row = html('tr', { 'data-run': shown.runs[0]!, 'data-trace': trace },
        html('th', { scope: 'row' }, lineSample(shown), html('span', {}, shown.label)),
        html('td'), html('td'));
      this.rows.set(trace, row);
    }
    // The attributes have every digit; the cells are rounded for reading.
    row.dataset['x'] = String(x);
    row.dataset['y'] = String(y);
    row.classList.toggle('near', near);
    const [xCell, yCell] = row.querySelectorAll('td');
    xCell!.textContent = short(x, 5);
    const band = low === undefined ? []
      : [' ', html('span', { class: 'bounds' }, `(${short(low, 3)} … ${short(high, 3)})`)];
    yCell!.replaceChildren(short(y, low === undefined ? 5 : 4), ...band);
    return row;
  }
}
