// What the panels draw: a line for each run, or one for each group of runs with its band.

import type { Cells } from './curves';
import { blewUp } from './data';
import type { Report, Run, Style } from './data';

export interface Trace {
  label: string;
  style: Style;
  /** One run, or those of a group. */
  runs: number[];
  /** A group has a band. */
  grouped: boolean;
  status: string;
  blewUp: boolean;
  cells(xColumn: string, yColumn: string): Cells;
}

function runTrace(run: Run, index: number): Trace {
  return {
    label: run.label, style: run.style, runs: [index], grouped: false, status: run.status,
    blewUp: blewUp(run),
    cells: (x, y) => ({ x: run.metrics.get(x) ?? [], y: run.metrics.get(y) ?? [] }),
  };
}

/** A group is in the state of its runs, if they agree. */
function statusOf(runs: Run[]): string {
  const [first, ...others] = new Set(runs.map((run) => run.status));
  return others.length === 0 ? first ?? '' : 'mixed';
}

export function tracesOf(report: Report, bands: boolean): Trace[] {
  if (!bands) return report.runs.map(runTrace);
  const grouped = new Map<number, Trace>();
  for (const group of report.groups) {
    const members = group.runs.map((run) => report.runs[run]!);
    const trace: Trace = {
      label: group.label, style: group.style, runs: group.runs, grouped: true,
      status: statusOf(members), blewUp: members.every(blewUp),
      cells: (x, y) => ({ x: group.mid.get(x) ?? [], y: group.mid.get(y) ?? [],
        low: group.low.get(y) ?? [], high: group.high.get(y) ?? [] }),
    };
    for (const run of group.runs) grouped.set(run, trace);
  }
  // In the order of the runs; runs of no group stay as they are.
  return [...new Set(report.runs.map((run, i) => grouped.get(i) ?? runTrace(run, i)))];
}
