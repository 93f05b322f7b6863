// A panel as PNG, SVG or CSV: what it shows, with its zoom, its smoothing and its visible runs.

import type { Curve, Range } from './curves';
import { csvText } from './csv';
import { html } from './dom';
import { keyHeight, svgText } from './picture';
import type { Chart } from './picture';
import { fileName, savePng, saveText } from './save';
import { sceneOf } from './scene';
import type { PanelView } from './store';
import { isDark } from './theme';
import type { Trace } from './traces';
import { capital, wordsOf } from './words';

export interface Exported {
  readonly number: number;
  readonly view: PanelView;
  readonly traces: Trace[];
  readonly visible: boolean[];
  readonly curves: Curve[];
  /** Rows on each side of a smoothed value; 0: none is smoothed. */
  readonly reach: number;
  xRange(): Range;
  yRange(): Range;
}

const width = 760;
const plotHeight = 380;

function chartOf(panel: Exported): Chart {
  const { x, y, logX, logY } = panel.view;
  const frame = { x: panel.xRange(), y: panel.yRange(), logX, logY, left: 84, top: 16,
    width: width - 100, height: plotHeight };
  const layers = sceneOf(frame, panel.curves, panel.visible);
  const height = plotHeight + 16 + 50 + keyHeight({ layers, width });
  const smooth = panel.reach > 0 ? `, mean of ${2 * panel.reach + 1} rows` : '';
  return { title: `${wordsOf(y)} against ${wordsOf(x)}`, frame, xWords: capital(wordsOf(x)),
    yWords: capital(wordsOf(y)) + smooth, layers, traces: panel.traces, width, height, dark: isDark() };
}

/** One line for each point that is shown. */
export function panelCsv(panel: Exported): string {
  const { x, y, logY } = panel.view;
  const [low, high] = panel.xRange();
  const [below, above] = panel.yRange();
  const grouped = panel.traces.some((trace) => trace.grouped);
  const value = (at: number | undefined, log: boolean): number | null =>
    (at === undefined || Number.isNaN(at) ? null : log ? 10 ** at : at);
  const head = ['run', x, y, ...(panel.reach > 0 ? [`${y} mean of ${2 * panel.reach + 1} rows`] : []),
    ...(grouped ? [`${y} low`, `${y} high`] : [])];
  const rows = panel.traces.flatMap((trace, i) => {
    if (!panel.visible[i]) return [];
    const { x: xs, y: ys, at } = panel.curves[i]!;
    const shown = [...xs.keys()].filter((row) => at.x[row]! >= low && at.x[row]! <= high &&
      at.raw[row]! >= below && at.raw[row]! <= above);
    return shown.map((row) => [trace.label, xs[row]!, ys[row]!,
      ...(panel.reach > 0 ? [value(at.y[row], logY)] : []),
      ...(grouped ? [value(at.low?.[row], logY), value(at.high?.[row], logY)] : [])]);
  });
  return csvText(head, rows);
}

export function exportButtons(panel: Exported): HTMLElement {
  const name = (ending: string): string => fileName(panel.view.y, 'by', panel.view.x) + ending;
  const actions: [string, () => void | Promise<void>][] = [
    ['PNG', () => { const chart = chartOf(panel);
      return savePng(name('.png'), svgText(chart), chart.width, chart.height); }],
    ['SVG', () => saveText(name('.svg'), svgText(chartOf(panel)), 'image/svg+xml')],
    ['CSV', () => saveText(name('.csv'), panelCsv(panel), 'text/csv')],
  ];
  return html('div', { class: 'exports', role: 'group', 'aria-label': `Save panel ${panel.number + 1}` },
    ...actions.map(([words, action]) => html('button', { type: 'button', class: 'small',
      'data-save': words.toLowerCase(), 'aria-label': `Save panel ${panel.number + 1} as ${words}`,
      click: () => { void action(); } }, words)));
}
