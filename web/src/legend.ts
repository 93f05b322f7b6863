// The list of runs, to switch them on and off in the panels: a button each, with a sample of its line.

import type { Run } from './data';
import { html } from './dom';
import { lineSample } from './marks';

export class VisibleRuns {
  readonly shown: boolean[];
  private readonly listeners: (() => void)[] = [];

  constructor(count: number) {
    this.shown = new Array<boolean>(count).fill(true);
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  toggle(run: number): void {
    this.shown[run] = !this.shown[run];
    this.tell();
  }

  setAll(shown: boolean): void {
    this.shown.fill(shown);
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

function runButton(run: Run, index: number, visible: VisibleRuns): HTMLButtonElement {
  const words = html('span', { class: 'run-label' }, run.label);
  if (run.status !== 'finished') words.append(' ', html('span', { class: 'status' }, run.status));
  const button = html('button', { type: 'button', class: 'run', 'data-run': index,
    click: () => visible.toggle(index) }, lineSample(run), words);
  const show = (): void => button.setAttribute('aria-pressed', String(visible.shown[index]));
  visible.onChange(show);
  show();
  return button;
}

export function legend(runs: Run[], visible: VisibleRuns): HTMLElement {
  const items = runs.map((run, i) => html('li', {}, runButton(run, i, visible)));
  return html('div', { class: 'legend', role: 'group', 'aria-label': 'Runs shown in the panels' },
    html('div', { class: 'legend-head' },
      html('h3', {}, 'Runs'),
      html('button', { type: 'button', class: 'small', 'data-show': 'all',
        'aria-label': 'Show all runs', click: () => visible.setAll(true) }, 'All'),
      html('button', { type: 'button', class: 'small', 'data-show': 'none',
        'aria-label': 'Show none of the runs', click: () => visible.setAll(false) }, 'None')),
    html('ul', { class: 'runs' }, ...items));
}
