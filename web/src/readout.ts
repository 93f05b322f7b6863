// The values under the cursor: for each visible run its nearest point, as written in metrics.csv.

import type { Run } from './data';
import type { Point } from './curves';
import { html } from './dom';
import { lineSample } from './marks';
import { short } from './words';

export interface Reading { run: number; point: Point }

export class Readout {
  readonly element: HTMLElement;
  private readonly body: HTMLTableSectionElement;
  private readonly xHead: HTMLElement;
  private readonly rows = new Map<number, HTMLTableRowElement>();

  constructor(private readonly runs: Run[], yWords: string) {
    this.xHead = html('th', { scope: 'col' });
    this.body = html('tbody');
    this.element = html('div', { class: 'readout', hidden: true },
      html('table', {},
        html('thead', {}, html('tr', {}, html('th', { scope: 'col' }, 'run'), this.xHead,
          html('th', { scope: 'col' }, yWords))),
        this.body));
  }

  setXWords(words: string): void {
    this.xHead.textContent = words;
  }

  /** Rows from the highest value to the lowest, like the curves; `near` is the run under the cursor. */
  show(readings: Reading[], near: number | null): void {
    const sorted = [...readings].sort((a, b) => b.point.y - a.point.y);
    this.body.replaceChildren(...sorted.map((reading) => this.row(reading, reading.run === near)));
    this.element.hidden = sorted.length === 0;
  }

  hide(): void {
    this.element.hidden = true;
    this.body.replaceChildren();
  }

  private row({ run, point }: Reading, near: boolean): HTMLTableRowElement {
    let row = this.rows.get(run);
    if (!row) {
      const shown = this.runs[run]!;
      row = html('tr', { 'data-run': run },
        html('th', { scope: 'row' }, lineSample(shown), html('span', {}, shown.label)),
        html('td'), html('td'));
      this.rows.set(run, row);
    }
    // The attributes have every digit; the cells are rounded for reading.
    row.dataset['x'] = String(point.x);
    row.dataset['y'] = String(point.y);
    row.classList.toggle('near', near);
    const [xCell, yCell] = row.querySelectorAll('td');
    xCell!.textContent = short(point.x, 5);
    xCell!.title = String(point.x);
    yCell!.textContent = short(point.y, 5);
    yCell!.title = String(point.y);
    return row;
  }
}
