// What is known of single agents, round by round: the last round as a whole, and one metric at the
// logged rounds if the run kept it.

import type { Cell, Run } from './data';
import { short, wordsOf } from './words';

export const agentMetrics = ['loss', 'grad_norm2', 'distance2', 'accuracy', 'payload_bytes'];

/** The rounds that the slider stands on: the logged ones. */
export function roundsOf(run: Run): number[] {
  const logged = (run.metrics.get('iteration') ?? []).filter((v): v is number => v !== null);
  return logged.length > 0 ? logged : run.last ? [run.last.iteration] : [];
}

/** The values of all agents at a round; null: the run did not keep them. */
export function valuesAt(run: Run, metric: string, round: number): Cell[] | null {
  if (run.last?.iteration === round) return run.last.values.get(metric) ?? null;
  if (run.history?.metric !== metric) return null;
  const row = run.history.iterations.indexOf(round);
  return row < 0 ? null : run.history.values[row]!;
}

/** All values that the slider can come to, so that a colour means the same at every round. */
export function valuesOfAllRounds(run: Run, metric: string): Cell[] {
  const last = run.last?.values.get(metric) ?? [];
  return run.history?.metric === metric ? [...run.history.values.flat(), ...last] : last;
}

export function metricsOfAgents(runs: Run[]): string[] {
  return agentMetrics.filter((metric) => runs.some((run) =>
    run.last?.values.has(metric) || run.history?.metric === metric));
}

/** What metrics.csv says of all agents together at a round. */
export function roundWords(run: Run, row: number): string {
  const told = ['loss_max', 'loss_mean', 'loss_local', 'consensus', 'accuracy_min'].flatMap((column) => {
    const value = run.metrics.get(column)?.[row] ?? null;
    return value === null ? [] : [`${wordsOf(column)} ${short(value)}`];
  });
  return told.slice(0, 3).join(' · ');
}
