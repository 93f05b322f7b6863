// Search, grouping and order of the runs, for the list and the table alike.

import { finalCell } from './data';
import type { Cell, Report, Run } from './data';

export interface Order {
  query: string;
  /** '' for no grouping. */
  groupBy: string;
  /** '' for the order of the report. */
  sortBy: string;
  descending: boolean;
}

export const asGiven: Order = { query: '', groupBy: '', sortBy: '', descending: false };

export interface Section { name: string; runs: number[] }

type Key = number | string | null;

const searched = (run: Run): string => [run.label, run.algorithm, run.codec, run.status, run.data,
  run.graph, run.group, ...[...run.swept].map(([key, value]) => `${key}=${value}`)]
  .join('\n').toLowerCase();

/** True if every word of the query occurs somewhere in what names the run. */
export function matches(run: Run, query: string): boolean {
  const text = searched(run);
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

const fixedGroups: [string, string, (run: Run) => string][] = [
  ['algorithm', 'method', (run) => run.algorithm],
  ['codec', 'codec', (run) => run.codec],
  ['group', 'label without the seed', (run) => run.group],
  ['status', 'status', (run) => run.status],
];

export interface Choice { value: string; text: string }

export function groupChoices(report: Report): Choice[] {
  const swept = report.sweep.map((key) => ({ value: `swept ${key}`, text: key }));
  return [{ value: '', text: 'nothing' }, ...swept,
    ...fixedGroups.map(([value, text]) => ({ value, text }))];
}

function groupName(run: Run, groupBy: string): string {
  if (groupBy.startsWith('swept ')) {
    const key = groupBy.slice(6);
    return run.swept.has(key) ? `${key} = ${run.swept.get(key)}` : `without ${key}`;
  }
  return fixedGroups.find(([value]) => value === groupBy)?.[2](run) || '–';
}

/** `target 0 megabits` and the like are what it took to reach a target. */
function sortKey(run: Run, sortBy: string): Key {
  const [kind, target, what] = sortBy.split(' ');
  if (kind === 'target') {
    const reached = run.reached[Number(target)] ?? null;
    return reached === null ? null : reached[what as 'iteration' | 'megabits' | 'seconds'];
  }
  const own: Record<string, (r: Run) => Key> = {
    label: (r) => r.label, algorithm: (r) => r.algorithm, codec: (r) => r.codec,
    status: (r) => r.status, rate: (r) => r.rate, iterations: (r) => r.iterations,
    seconds: (r) => r.seconds,
  };
  return own[sortBy]?.(run) ?? finalCell(run, sortBy);
}

const absent = (key: Key): boolean =>
  key === null || key === '' || (typeof key === 'number' && Number.isNaN(key));

const words = new Intl.Collator('en', { numeric: true });

/** What is missing comes last, upwards and downwards. */
function compare(a: Key, b: Key, descending: boolean): number {
  if (absent(a) || absent(b)) return Number(absent(a)) - Number(absent(b));
  const up = typeof a === 'number' && typeof b === 'number' ? (a < b ? -1 : Number(a > b))
    : words.compare(String(a), String(b));
  return descending ? -up : up;
}

export function arrange(report: Report, order: Order): Section[] {
  const found = report.runs.map((_, i) => i).filter((i) => matches(report.runs[i]!, order.query));
  if (order.sortBy) {
    const keys = new Map<number, Cell | string>(found.map((i) =>
      [i, sortKey(report.runs[i]!, order.sortBy)]));
    found.sort((a, b) => compare(keys.get(a)!, keys.get(b)!, order.descending) || a - b);
  }
  if (!order.groupBy) return [{ name: '', runs: found }];
  const sections = new Map<string, number[]>();
  for (const run of found) {
    const name = groupName(report.runs[run]!, order.groupBy);
    sections.set(name, [...(sections.get(name) ?? []), run]);
  }
  const made = [...sections].map(([name, runs]) => ({ name, runs }));
  return made.sort((a, b) => words.compare(a.name, b.name));
}
