// The eight panels: four metrics, each in a left and a right column with an x axis of its own.

import type { Report, Run } from './data';
import { hasValues, isMeasured } from './data';
import { html, select } from './dom';
import { legend, VisibleRuns } from './legend';
import { Panel } from './panel';
import { onThemeChange } from './theme';
import { capital, largerIsBetter, wordsOf, xColumns } from './words';

type Side = 'left' | 'right';

class Column {
  readonly panels: Panel[];
  private x: string;
  private log = true;

  constructor(readonly side: Side, x: string, metrics: string[], runs: Run[], visible: VisibleRuns,
    announce: (words: string) => void) {
    this.x = x;
    this.panels = metrics.map((yColumn) => new Panel(runs, visible,
      { xColumn: x, yColumn, logX: this.log, logY: !largerIsBetter(yColumn) }, side, announce));
  }

  draw(): void {
    for (const panel of this.panels) panel.setX(this.x, this.log);
  }

  controls(): HTMLElement {
    const id = `x-${this.side}`;
    const box = html('input', { type: 'checkbox', id: `${id}-log`, checked: this.log });
    box.addEventListener('change', () => { this.log = box.checked; this.draw(); });
    const choices = xColumns.map((column) => ({ value: column, text: wordsOf(column) }));
    return html('div', { class: 'x-choice' },
      html('label', { for: id }, `${capital(this.side)} x axis`),
      select(id, choices, this.x, (value) => { this.x = value; this.draw(); }),
      html('label', { class: 'check' }, box, 'log'));
  }
}

/** Without a test set there is no accuracy; the average model's loss takes its row. */
export function metricsOf(runs: Run[]): { metrics: string[]; note: string } {
  const metrics = ['loss_max', 'loss_local', 'grad_norm2_max', 'consensus']
    .filter((metric) => runs.some((run) => isMeasured(run, metric)));
  if (runs.some((run) => hasValues(run, 'accuracy_min'))) {
    return { metrics: [...metrics, 'accuracy_min'], note: '' };
  }
  if (runs.some((run) => hasValues(run, 'loss_mean'))) {
    return { metrics: [...metrics, 'loss_mean'],
      note: `No run has a test accuracy: the last row shows the ${wordsOf('loss_mean')} instead.` };
  }
  return { metrics, note: 'No run has a test accuracy, so its row is left out.' };
}

function notes(report: Report, accuracyNote: string): HTMLElement {
  const words = ['Drag to zoom, double-click to reset; point at a panel, or focus it and use the ' +
    'arrow keys, to read values.', accuracyNote];
  if (report.runs.some((run) => run.status === 'diverged')) {
    words.push('Diverged runs leave the frame at the top, so that the others stay readable.');
  }
  return html('p', { class: 'note' }, words.filter(Boolean).join(' '));
}

function watch(columns: Column[], grid: HTMLElement): void {
  const panels = columns.flatMap((column) => column.panels);
  new ResizeObserver(() => { for (const panel of panels) panel.resize(); }).observe(grid);
  onThemeChange(() => { for (const panel of panels) panel.redraw(); });
  // A finger cannot leave a panel as a mouse does: touching elsewhere hides the readout.
  document.addEventListener('pointerdown', (event) => {
    for (const panel of panels) {
      if (!panel.element.contains(event.target as Node)) panel.hideCursor();
    }
  });
}

/** The section, and the function that draws into it once it is in the page. */
export function panelSection(report: Report): { element: HTMLElement; draw: () => void } {
  const { runs } = report;
  const visible = new VisibleRuns(runs.length);
  const status = html('div', { class: 'unseen', role: 'status' });
  const announce = (words: string): void => { status.textContent = words; };
  const { metrics, note } = metricsOf(runs);
  const columns = [
    new Column('left', 'iteration', metrics, runs, visible, announce),
    new Column('right', 'bits_payload', metrics, runs, visible, announce),
  ];
  const grid = html('div', { class: 'panels' });
  metrics.forEach((_, row) => {
    for (const column of columns) grid.append(column.panels[row]!.element);
  });
  const resetAll = html('button', { type: 'button', class: 'reset-all', click: () => {
    for (const column of columns) for (const panel of column.panels) panel.resetZoom();
  } }, 'Reset all zooms');
  const controls = html('div', { class: 'controls' }, ...columns.map((c) => c.controls()), resetAll);
  const element = html('section', { id: 'curves', 'aria-labelledby': 'curves-title' },
    html('h2', { id: 'curves-title' }, 'Curves'), notes(report, note), controls,
    html('div', { class: 'curves' }, legend(runs, visible), grid), status);
  return {
    element,
    draw: () => {
      for (const column of columns) column.draw();
      watch(columns, grid);
    },
  };
}
