// The report's data as C++ wrote it (ticopd/report): format 1, one JSON object inside the page.

import type { Column } from './words';

/** A cell of metrics.csv: null is an empty cell; NaN and infinities are numbers here. */
export type Cell = number | null;

export interface Target { metric: string; value: number }
export interface Reached { iteration: number; megabits: number; seconds: number }
export interface LastRound { iteration: number; values: Map<string, Cell[]> }

export interface Run {
  label: string;
  folder: string;
  status: string;
  reason: string;
  algorithm: string;
  codec: string;
  rate: Cell;
  iterations: number;
  seconds: Cell;
  digest: string;
  data: string;
  dimension: number;
  style: { color: number; dash: number; marker: number };
  metrics: Map<string, Cell[]>;
  reached: (Reached | null)[];
  graph: string;
  agents: number;
  edges: [number, number][];
  last: LastRound | null;
  machine: Record<string, string | number>;
  toml: string;
}

export interface Report {
  columns: Map<string, Column>;
  title: string;
  version: string;
  date: string;
  command: string;
  targets: Target[];
  runs: Run[];
}

/** The page has no report to show; the message tells the reader why. */
export class NoReport extends Error {}

const wordsOfNumbers: Record<string, number> = { nan: NaN, inf: Infinity, '-inf': -Infinity };

function cell(value: unknown): Cell {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return wordsOfNumbers[value] ?? null;
  return null;
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => (typeof value === 'number' && value >= 0 ? value : 0);

function readMetrics(columns: string[], value: unknown, label: string): Map<string, Cell[]> {
  const arrays = list(value);
  if (arrays.length !== columns.length) {
    throw new NoReport(`The run "${label}" has ${arrays.length} columns of metrics where ` +
      `${columns.length} are named.`);
  }
  return new Map(columns.map((name, i) => [name, list(arrays[i]).map(cell)]));
}

function readLast(value: unknown): LastRound | null {
  if (!isTree(value)) return null;
  const values = new Map<string, Cell[]>();
  for (const [name, cells] of Object.entries(value)) {
    if (Array.isArray(cells)) values.set(name, cells.map(cell));
  }
  return values.size > 0 ? { iteration: count(value['iteration']), values } : null;
}

function readReached(value: unknown): Reached | null {
  if (!isTree(value)) return null;
  return { iteration: count(value['iteration']), megabits: count(value['megabits']),
    seconds: count(value['seconds']) };
}

function readEdges(value: unknown, agents: number): [number, number][] {
  const inside = (end: unknown): end is number =>
    typeof end === 'number' && Number.isInteger(end) && end >= 0 && end < agents;
  return list(value).map(list).filter((e): e is [number, number] => inside(e[0]) && inside(e[1]));
}

function readMachine(value: unknown): Record<string, string | number> {
  const machine: Record<string, string | number> = {};
  for (const [name, entry] of Object.entries(isTree(value) ? value : {})) {
    if (typeof entry === 'string' || typeof entry === 'number') machine[name] = entry;
  }
  return machine;
}

function readRun(value: unknown, columns: string[], index: number): Run {
  if (!isTree(value)) throw new NoReport(`Run ${index} of the report is not an object.`);
  const label = text(value['label']) || `run ${index}`;
  const style = isTree(value['style']) ? value['style'] : {};
  const agents = count(value['agents']);
  return {
    label,
    folder: text(value['folder']) || `run-${index}`,
    status: text(value['status']),
    reason: text(value['reason']),
    algorithm: text(value['algorithm']),
    codec: text(value['codec']),
    rate: cell(value['rate']),
    iterations: count(value['iterations']),
    seconds: cell(value['seconds']),
    digest: text(value['digest']),
    data: text(value['data']),
    dimension: count(value['dimension']),
    style: { color: count(style['color']), dash: count(style['dash']),
      marker: count(style['marker'] ?? index) },
    metrics: readMetrics(columns, value['metrics'], label),
    reached: list(value['reached']).map(readReached),
    graph: text(value['graph']),
    agents,
    edges: readEdges(value['edges'], agents),
    last: readLast(value['last']),
    machine: readMachine(value['machine']),
    toml: text(value['toml']),
  };
}

export function parseReport(source: string): Report {
  let tree: unknown;
  try {
    tree = JSON.parse(source);
  } catch {
    throw new NoReport('The data inside this page is not JSON: the file may have been cut short.');
  }
  // The unfilled template holds a JSON string. Its text must not occur here, because the program that
  // fills the template replaces its only occurrence.
  if (typeof tree === 'string') {
    throw new NoReport('This is the empty template of the report page. "ticopd report DIR" fills it.');
  }
  if (!isTree(tree)) throw new NoReport('The data inside this page is not a report.');
  if (tree['format'] !== 1) {
    throw new NoReport(`The data inside this page has format ${JSON.stringify(tree['format'])}; ` +
      'this page shows format 1.');
  }
  const columns = list(tree['columns']).map(text);
  const targets = list(tree['targets']).filter(isTree)
    .map((t) => ({ metric: text(t['metric']), value: cell(t['value']) ?? NaN }));
  const titles = list(tree['titles']).map(text);
  const higher = list(tree['higher_is_better']);
  return {
    columns: new Map(columns.map((column, i) =>
      [column, { title: titles[i] || column, higherIsBetter: higher.includes(column) }])),
    title: text(tree['title']) || 'ticopd report',
    version: text(tree['version']),
    date: text(tree['date']),
    command: text(tree['command']),
    targets,
    runs: list(tree['runs']).map((run, i) => readRun(run, columns, i)),
  };
}

/** The last cell of a column, which is the metric at the last logged round. */
export function finalCell(run: Run, column: string): Cell {
  const cells = run.metrics.get(column);
  return cells?.[cells.length - 1] ?? null;
}

/** True for a diverged run, and for one that went on with a loss a hundred times its first. */
export function blewUp(run: Run): boolean {
  const loss = run.metrics.get(isMeasured(run, 'loss_max') ? 'loss_max' : 'loss_local') ?? [];
  const first = loss[0] ?? null;
  return run.status === 'diverged' || (first !== null && loss.some((v) => v !== null && v > 100 * first));
}

/** Runs at a lower log.level leave the cells of a column empty. */
export function isMeasured(run: Run, column: string): boolean {
  return (run.metrics.get(column) ?? []).some((c) => c !== null);
}

export function hasValues(run: Run, column: string): boolean {
  return (run.metrics.get(column) ?? []).some((c) => c !== null && Number.isFinite(c));
}
