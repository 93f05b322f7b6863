// What a swept key costs or gains: bits to a target, or a metric at the end, against its values.

import { curveOf, xExtent, yExtent } from './curves';
import { csvText } from './csv';
import { finalCell } from './data';
import type { Cell, Report, Run, Style } from './data';
import { html, select } from './dom';
import { keyHeight, svgText } from './picture';
import type { Chart, Tick } from './picture';
import { fileName, savePng, saveText } from './save';
import { layerOf } from './scene';
import type { Store } from './store';
import { targetWords } from './table';
import { isDark, onThemeChange } from './theme';
import { toX, toY } from './frame';
import { capital, largerIsBetter, short, wordsOf } from './words';

export interface SweepPoint {
  value: string | number;
  mid: Cell;
  low: Cell;
  high: Cell;
  runs: number;
  /** Runs that have a value: those that reached the target. */
  counted: number;
}
export interface SweepLine { label: string; style: Style; points: SweepPoint[] }

const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);

function middle(values: number[], band: string): { mid: Cell; low: Cell; high: Cell } {
  if (values.length === 0) return { mid: null, low: null, high: null };
  const sorted = [...values].sort((a, b) => a - b);
  if (band === 'deviation') {
    const mid = sum(sorted) / sorted.length;
    const spread = sorted.length > 1
      ? Math.sqrt(sum(sorted.map((v) => (v - mid) ** 2)) / (sorted.length - 1)) : 0;
    return { mid, low: mid - spread, high: mid + spread };
  }
  const half = sorted.length >> 1;
  const mid = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  return { mid, low: sorted[0]!, high: sorted[sorted.length - 1]! };
}

/** What a run says about a choice: `target 0 megabits`, or the name of a metric. */
export function outcome(run: Run, choice: string): Cell {
  const [kind, target] = choice.split(' ');
  const value = kind === 'target' ? run.reached[Number(target)]?.megabits ?? null : finalCell(run, choice);
  return value !== null && Number.isFinite(value) ? value : null;
}

/**
 * The label of a run without its seed and without these keys: runs that differ only there are a line.
 * A label may name `codec.bits` as `bits`.
 */
function lineOf(run: Run, keys: string[]): string {
  const names = keys.flatMap((key) => key.split('.').map((_, i, parts) => parts.slice(i).join('.')));
  const others = run.group.split(', ').filter((piece) => !names.some((name) => piece.startsWith(`${name} = `)));
  return others.join(', ') || run.algorithm;
}

type Lines = Map<string, { style: Style; values: Map<string | number, Run[]> }>;

function linesWithout(report: Report, key: string, keys: string[]): Lines {
  const lines: Lines = new Map();
  for (const run of report.runs) {
    const value = run.swept.get(key);
    if (value === undefined) continue;
    const label = lineOf(run, keys);
    const line = lines.get(label) ?? { style: run.style, values: new Map() };
    line.values.set(value, [...(line.values.get(value) ?? []), run]);
    lines.set(label, line);
  }
  return lines;
}

export function sweepLines(report: Report, key: string, choice: string): SweepLine[] {
  const alone = linesWithout(report, key, [key]);
  // Keys that are swept side by side leave lines of one point each, unless all are taken away.
  const single = [...alone.values()].every((line) => line.values.size === 1);
  const lines = single ? linesWithout(report, key, report.sweep) : alone;
  return [...lines].map(([label, { style, values }]) => ({ label, style,
    points: [...values].map(([value, runs]) => {
      const known = runs.map((run) => outcome(run, choice)).filter((v): v is number => v !== null);
      return { value, ...middle(known, report.band), runs: runs.length, counted: known.length };
    }) }));
}

interface XAxis { place(value: string | number): number; ticks: Tick[]; log: boolean }

/** Numbers in their place, by their logarithm if they grow by factors; words one beside the other. */
function axisOf(lines: SweepLine[]): XAxis {
  const values = [...new Set(lines.flatMap((line) => line.points.map((point) => point.value)))];
  const numbers = values.filter((v): v is number => typeof v === 'number').sort((a, b) => a - b);
  if (numbers.length < values.length) {
    return { place: (v) => values.indexOf(v), log: false,
      ticks: values.map((value, at) => ({ at, label: String(value) })) };
  }
  const log = numbers[0]! > 0 && numbers[numbers.length - 1]! / numbers[0]! >= 6;
  const most = 12;
  const named = numbers.filter((_, i) => i % Math.ceil(numbers.length / most) === 0);
  return { place: (v) => v as number, log,
    ticks: named.map((v) => ({ at: log ? Math.log10(v) : v, label: short(v) })) };
}

function chartOf(report: Report, key: string, choice: string, logY: boolean, width: number): Chart {
  const lines = sweepLines(report, key, choice);
  const axis = axisOf(lines);
  const curves = lines.map(({ points }) => {
    const sorted = [...points].sort((a, b) => axis.place(a.value) - axis.place(b.value));
    const column = (of: (point: SweepPoint) => Cell): Cell[] => sorted.map(of);
    return curveOf({ x: column((p) => axis.place(p.value)), y: column((p) => p.mid),
      low: column((p) => p.low), high: column((p) => p.high) }, axis.log, logY);
  });
  const [low, high] = xExtent(curves, axis.log);
  const room = 0.05 * (high - low);
  const frame = { x: [low - room, high + room] as [number, number],
    y: yExtent(curves, lines.map(() => true), lines.map(() => false), [low, high], logY),
    logX: axis.log, logY, left: 84, top: 16, width: width - 100, height: 300 };
  const layers = curves.map((curve, i) => {
    const layer = layerOf(frame, curve, i, false);
    layer.markers = [...curve.at.x].map((x, k): [number, number] => [x, curve.at.y[k]!])
      .filter(([, y]) => !Number.isNaN(y)).map(([x, y]) => [toX(frame, x), toY(frame, y)]);
    return layer;
  });
  const words = choiceWords(report, choice);
  return { title: `${words} against ${key}`, frame, xWords: key, yWords: words, xTicks: axis.ticks,
    layers, traces: lines, width, height: 366 + keyHeight({ layers, width }), dark: isDark() };
}

function choiceWords(report: Report, choice: string): string {
  const [kind, target] = choice.split(' ');
  return kind === 'target' ? `Mbit until ${targetWords(report.targets[Number(target)]!)}`
    : `${capital(wordsOf(choice))}, at the end`;
}

function valueTable(report: Report, key: string, choice: string): HTMLElement {
  const head = ['run', key, 'middle', 'low', 'high', 'runs'];
  const rows = sweepLines(report, key, choice).flatMap((line) => line.points.map((point) =>
    html('tr', {}, html('th', { scope: 'row' }, line.label), html('td', {}, String(point.value)),
      ...[point.mid, point.low, point.high].map((v) => html('td', { class: 'number' }, short(v))),
      html('td', { class: 'number' }, `${point.counted} of ${point.runs}`))));
  return html('table', {}, html('thead', {}, html('tr', {}, ...head.map((words) =>
    html('th', { scope: 'col' }, words)))), html('tbody', {}, ...rows));
}

function sweepCsv(report: Report, key: string, choice: string): string {
  return csvText(['run', key, 'mid', 'low', 'high', 'runs', 'counted'],
    sweepLines(report, key, choice).flatMap((line) => line.points.map((point) =>
      [line.label, point.value, point.mid, point.low, point.high, point.runs, point.counted])));
}

export function sweepSection(store: Store): HTMLElement {
  const chosen = { key: '', choice: '', logY: true };
  const stage = html('div', { class: 'sweep-stage' });
  const missing = html('p', { class: 'note' });
  const table = html('div', { class: 'scroll', tabindex: 0, role: 'region',
    'aria-label': 'Values of the sweep' });
  const controls = html('div', { class: 'controls' });
  const section = html('section', { id: 'sweep', 'aria-labelledby': 'sweep-title' },
    html('h2', { id: 'sweep-title' }, 'Sweep'), controls, stage, missing,
    html('details', {}, html('summary', {}, 'All values as a table'), table));
  const chart = (width: number): Chart =>
    chartOf(store.report, chosen.key, chosen.choice, chosen.logY, width);
  const draw = (): void => {
    if (section.hidden || stage.clientWidth === 0) return;
    const made = chart(Math.min(860, Math.max(320, stage.clientWidth)));
    const text = new DOMParser().parseFromString(svgText(made), 'image/svg+xml').documentElement;
    text.setAttribute('role', 'img');
    text.setAttribute('aria-label', made.title);
    stage.replaceChildren(document.importNode(text, true));
    stage.dataset['lines'] = String(made.layers.length);
    const never = sweepLines(store.report, chosen.key, chosen.choice).flatMap((line) => line.points
      .filter((point) => point.counted < point.runs)
      .map((point) => `${line.label}, ${point.value} (${point.runs - point.counted} of ${point.runs})`));
    const shownNever = never.slice(0, 6).join('; ') + (never.length > 6 ? `; and ${never.length - 6} more` : '');
    missing.textContent = never.length > 0 ? `Without a value, and not in the middle: ${shownNever}.` : '';
    table.replaceChildren(valueTable(store.report, chosen.key, chosen.choice));
  };
  const choices = (): string[] =>
    [...store.report.targets.map((_, i) => `target ${i}`), ...store.metrics()];
  let offered = '';
  const render = (): void => {
    const { sweep } = store.report;
    section.hidden = sweep.length === 0;
    const now = JSON.stringify([sweep, choices()]);
    if (!section.hidden && now !== offered) {
      offered = now;
      if (!sweep.includes(chosen.key)) chosen.key = sweep[0]!;
      if (!choices().includes(chosen.choice)) {
        chosen.choice = choices()[0] ?? '';
        chosen.logY = !largerIsBetter(chosen.choice);
      }
      const log = html('input', { type: 'checkbox', id: 'sweep-log', checked: chosen.logY });
      log.addEventListener('change', () => { chosen.logY = log.checked; draw(); });
      const key = select('sweep-key', sweep.map((value) => ({ value, text: value })), chosen.key,
        (value) => { chosen.key = value; draw(); });
      const metric = select('sweep-metric', choices().map((value) =>
        ({ value, text: choiceWords(store.report, value) })), chosen.choice, (value) => {
        chosen.choice = value;
        chosen.logY = !largerIsBetter(value);
        log.checked = chosen.logY;
        draw();
      });
      const name = (ending: string): string => fileName(chosen.choice, 'by', chosen.key) + ending;
      const button = (words: string, action: () => void): HTMLElement => html('button',
        { type: 'button', class: 'small', 'data-save': words.toLowerCase(),
          'aria-label': `Save the sweep as ${words}`, click: action }, words);
      controls.replaceChildren(
        html('div', {}, html('label', { for: 'sweep-metric' }, 'Show'), metric),
        html('div', {}, html('label', { for: 'sweep-key' }, 'against'), key,
          html('label', { class: 'check' }, log, 'log')),
        html('div', { class: 'exports', role: 'group', 'aria-label': 'Save the sweep' },
          button('PNG', () => { const c = chart(760); void savePng(name('.png'), svgText(c), c.width, c.height); }),
          button('SVG', () => saveText(name('.svg'), svgText(chart(760)), 'image/svg+xml')),
          button('CSV', () => saveText(name('.csv'), sweepCsv(store.report, chosen.key, chosen.choice),
            'text/csv'))));
    }
    draw();
  };
  store.on(['data'], render);
  onThemeChange(draw);
  new ResizeObserver(draw).observe(stage);
  render();
  return section;
}
