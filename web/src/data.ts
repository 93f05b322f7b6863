// The report's data as C++ wrote it (ticopd/report): format 1, one JSON object inside the page.

import type { Column } from './words';

/** A cell of metrics.csv: null is an empty cell; NaN and infinities are numbers here. */
export type Cell = number | null;

export interface Target { metric: string; value: number }
export interface Reached { iteration: number; megabits: number; seconds: number }
export interface LastRound { iteration: number; values: Map<string, Cell[]> }
/** One metric of every agent at logged rounds: values[row][agent]. */
export interface History { metric: string; iterations: number[]; values: Cell[][] }
export interface Style { color: number; dash: number; marker: number }
/** Runs that differ only in their seed: a middle line and the band around it, column by column. */
export interface Group {
  label: string;
  runs: number[];
  style: Style;
  mid: Map<string, Cell[]>;
  low: Map<string, Cell[]>;
  high: Map<string, Cell[]>;
}
/** `missing`: what is no run of the report yet, or any more, and why. */
export interface LiveAddress { events: string; report: string; missing: string[] }

/** What `ticopd network status --json` says of a site. */
export interface Site {
  name: string;
  up: boolean;
  state: string;
  round: number;
  iterations: number;
  epoch: number;
  waiting: { site: string; seconds: number } | null;
  connected: number;
  peers: number;
  /** Bytes. */
  sent: number;
  received: number;
  resent: number;
}

export interface Run {
  label: string;
  folder: string;
  group: string;
  seed: number | null;
  swept: Map<string, string | number>;
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
  style: Style;
  metrics: Map<string, Cell[]>;
  reached: (Reached | null)[];
  graph: string;
  agents: number;
  edges: [number, number][];
  positions: [number, number][] | null;
  last: LastRound | null;
  history: History | null;
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
  sweep: string[];
  band: string;
  groups: Group[];
  sites: Site[];
  live: LiveAddress | null;
}

/** The page has no report to show; the message tells the reader why. */
export class NoReport extends Error {}

const wordsOfNumbers: Record<string, number> = { nan: NaN, inf: Infinity, '-inf': -Infinity };

export function cell(value: unknown): Cell {
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

export function readLast(value: unknown): LastRound | null {
  if (!isTree(value)) return null;
  const values = new Map<string, Cell[]>();
  for (const [name, cells] of Object.entries(value)) {
    if (Array.isArray(cells)) values.set(name, cells.map(cell));
  }
  return values.size > 0 ? { iteration: count(value['iteration']), values } : null;
}

function readHistory(value: unknown, agents: number): History | null {
  if (!isTree(value)) return null;
  const iterations = list(value['iterations']).map(count);
  const values = list(value['values']).map((row) => list(row).map(cell));
  if (iterations.length === 0 || values.length !== iterations.length) return null;
  if (values.some((row) => row.length !== agents)) return null;
  return { metric: text(value['metric']), iterations, values };
}

function readSwept(value: unknown): Map<string, string | number> {
  return new Map(Object.entries(isTree(value) ? value : {}).map(([key, swept]) =>
    [key, typeof swept === 'number' || typeof swept === 'string' ? swept : JSON.stringify(swept)]));
}

function readPositions(value: unknown, agents: number): [number, number][] | null {
  const places = list(value).map((place) => list(place).map(cell));
  const whole = places.length === agents && agents > 0 &&
    places.every(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  return whole ? places as [number, number][] : null;
}

function readStyle(value: unknown, index: number): Style {
  const style = isTree(value) ? value : {};
  return { color: count(style['color']), dash: count(style['dash']),
    marker: count(style['marker'] ?? index) };
}

function readGroup(value: Tree, runs: Run[], index: number): Group | null {
  const columns = list(value['columns']).map(text);
  const members = list(value['runs']).filter((run): run is number =>
    typeof run === 'number' && runs[run] !== undefined);
  const table = (cells: unknown): Map<string, Cell[]> => {
    const arrays = list(cells);
    return new Map(columns.map((name, i) => [name, list(arrays[i]).map(cell)]));
  };
  if (members.length === 0) return null;
  return { label: text(value['label']) || `group ${index}`, runs: members,
    style: readStyle(value['style'], index), mid: table(value['mid']), low: table(value['low']),
    high: table(value['high']) };
}

function readLive(value: unknown): LiveAddress | null {
  if (!isTree(value)) return null;
  return { events: text(value['events']), report: text(value['report']),
    missing: list(value['missing']).map(text) };
}

export function readSites(value: unknown): Site[] {
  return list(value).filter(isTree).map((site) => {
    const peers = list(site['peers']).filter(isTree);
    const sum = (key: string): number => peers.reduce((all, peer) => all + count(peer[key]), 0);
    const waiting = site['waiting'];
    return {
      name: text(site['name']),
      up: site['up'] === true,
      state: text(site['state']),
      round: count(site['round']),
      iterations: count(site['iterations']),
      epoch: count(site['epoch']),
      waiting: isTree(waiting) ? { site: text(waiting['site']), seconds: count(waiting['seconds']) } : null,
      connected: peers.filter((peer) => peer['connected'] === true).length,
      peers: peers.length,
      sent: sum('sent_bytes'),
      received: sum('received_bytes'),
      resent: count(site['resent_bytes']),
    };
  });
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
  const agents = count(value['agents']);
  return {
    label,
    folder: text(value['folder']) || `run-${index}`,
    group: text(value['group']) || label,
    seed: typeof value['seed'] === 'number' ? value['seed'] : null,
    swept: readSwept(value['swept']),
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
    style: readStyle(value['style'], index),
    metrics: readMetrics(columns, value['metrics'], label),
    reached: list(value['reached']).map(readReached),
    graph: text(value['graph']),
    agents,
    edges: readEdges(value['edges'], agents),
    positions: readPositions(value['positions'], agents),
    last: readLast(value['last']),
    history: readHistory(value['history'], agents),
    machine: readMachine(value['machine']),
    toml: text(value['toml']),
  };
}

export function parseReport(source: string): Report {
  try {
    return readReport(JSON.parse(source));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new NoReport('The data inside this page is not JSON: the file may have been cut short.');
  }
}

export function readReport(tree: unknown): Report {
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
  const runs = list(tree['runs']).map((run, i) => readRun(run, columns, i));
  return {
    columns: new Map(columns.map((column, i) =>
      [column, { title: titles[i] || column, higherIsBetter: higher.includes(column) }])),
    title: text(tree['title']) || 'ticopd report',
    version: text(tree['version']),
    date: text(tree['date']),
    command: text(tree['command']),
    targets,
    runs,
    sweep: list(tree['sweep']).map(text),
    band: text(tree['band']) || 'range',
    groups: list(tree['groups']).filter(isTree).map((group, i) => readGroup(group, runs, i))
      .filter((group): group is Group => group !== null),
    sites: readSites(tree['sites']),
    live: readLive(tree['live']),
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
