// The panels: each metric in a left and a right column, which begin with different x axes.

import type { Report, Run } from './data';
import { hasValues, isMeasured } from './data';
import { html, select } from './dom';
import { legend } from './legend';
import { Painter } from './painter';
import { Panel } from './panel';
import { defaultLog } from './store';
import type { Store } from './store';
import { onThemeChange } from './theme';
import { capital, wordsOf } from './words';

const firstAxis = { left: 'iteration', right: 'bits_payload' } as const;
type Side = keyof typeof firstAxis;

/** Without a test set there is no accuracy; the average model's loss takes its row. */
export function metricsOf(runs: Run[]): { metrics: string[]; note: string } {
  const metrics = ['loss_max', 'loss_local', 'grad_norm2_max', 'consensus', 'disagreement']
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
  const words = ['Drag in a panel to zoom all panels with the same axis; turn the wheel with Ctrl (or ' +
    'after a click), or pinch; double-click to reset. Point at a panel, or focus it and use the arrow ' +
    'keys, to read values.', accuracyNote];
  if (report.runs.some((run) => run.status === 'diverged')) {
    words.push('Diverged runs leave the frame at the top, so that the others stay readable.');
  }
  if (report.groups.length > 0) {
    words.push(report.band === 'deviation' ? 'Bands: mean and standard deviation over the seeds.'
      : 'Bands: median and range over the seeds.');
  }
  return html('p', { class: 'note' }, words.filter(Boolean).join(' '));
}

/** Sets the x axis of a whole column; each panel may then choose its own. */
function columnControls(store: Store, side: Side, panels: number[]): HTMLElement {
  const id = `x-${side}`;
  const box = html('input', { type: 'checkbox', id: `${id}-log`, checked: true });
  box.addEventListener('change', () => store.setView(panels, { logX: box.checked }));
  const choices = store.xChoices().map((column) => ({ value: column, text: wordsOf(column) }));
  return html('div', { class: 'x-choice' },
    html('label', { for: id }, `${capital(side)} x axes`),
    select(id, choices, firstAxis[side], (x) => store.setView(panels, { x })),
    html('label', { class: 'check' }, box, 'log'));
}

function smoothingControl(store: Store): HTMLElement {
  const slider = html('input', { type: 'range', id: 'smoothing', min: 0, max: 50, step: 1, value: 0 });
  const said = html('output', { for: 'smoothing' }, 'off');
  slider.addEventListener('input', () => {
    const reach = Number(slider.value);
    said.textContent = reach === 0 ? 'off' : `mean of ${2 * reach + 1} rows`;
    slider.setAttribute('aria-valuetext', said.textContent);
    store.setSmoothing(reach);
  });
  return html('div', {}, html('label', { for: 'smoothing' }, 'Smoothing'), slider, said);
}

/** Shown only for a report with groups. */
function bandControl(store: Store): HTMLElement {
  const box = html('input', { type: 'checkbox', id: 'bands' });
  const element = html('label', { class: 'check' }, box, 'one line and band per group');
  box.addEventListener('change', () => store.setBands(box.checked));
  const show = (): void => {
    box.checked = store.bands;
    element.hidden = store.report.groups.length === 0;
  };
  store.on(['data', 'view'], show);
  show();
  return element;
}

function listen(store: Store, panels: Panel[], grid: HTMLElement): void {
  const all = (act: (panel: Panel) => void) => (): void => panels.forEach(act);
  store.on(['view'], all((panel) => panel.viewChanged()));
  store.on(['data'], all((panel) => panel.viewChanged()));
  store.on(['shown', 'zoom'], all((panel) => panel.rangeChanged()));
  store.on(['highlight'], all((panel) => panel.drawTop()));
  onThemeChange(all((panel) => panel.rangeChanged()));
  new ResizeObserver(all((panel) => panel.resize())).observe(grid);
  // A finger cannot leave a panel as a mouse does: touching elsewhere hides the readout.
  document.addEventListener('pointerdown', (event) => {
    for (const panel of panels) {
      if (!panel.element.contains(event.target as Node)) panel.hideCursor();
    }
  });
}

/** The section, and the function that draws into it once it is in the page. */
export function panelSection(store: Store): { element: HTMLElement; draw: () => void } {
  const status = html('div', { class: 'unseen', role: 'status' });
  const announce = (words: string): void => { status.textContent = words; };
  const { metrics, note } = metricsOf(store.runs);
  const sides: Side[] = ['left', 'right'];
  store.views = metrics.flatMap((y) => sides.map((side) =>
    ({ x: firstAxis[side], y, logX: true, logY: defaultLog(y) })));
  const grid = html('div', { class: 'panels' });
  const element = html('section', { id: 'curves', 'aria-labelledby': 'curves-title' });
  const painter = new Painter((busy) => { element.dataset['busy'] = String(busy); });
  const panels = store.views.map((_, i) => new Panel(store, i, sides[i % 2]!, painter, announce));
  grid.append(...panels.map((panel) => panel.element));
  const numbers = (side: number): number[] => panels.map((_, i) => i).filter((i) => i % 2 === side);
  const resetAll = html('button', { type: 'button', class: 'reset-all',
    click: () => store.resetZoom() }, 'Reset all zooms');
  const controls = html('div', { class: 'controls' },
    ...sides.map((side, i) => columnControls(store, side, numbers(i))), smoothingControl(store),
    bandControl(store), resetAll);
  element.append(html('h2', { id: 'curves-title' }, 'Curves'), notes(store.report, note), controls,
    html('div', { class: 'curves' }, legend(store), grid), status);
  return {
    element,
    draw: () => {
      for (const panel of panels) panel.viewChanged();
      listen(store, panels, grid);
    },
  };
}
