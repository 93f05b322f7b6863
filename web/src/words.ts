// Texts for the reader: the names of metrics and axes, and numbers at a readable length.

import type { Cell } from './data';

export interface XAxis { column: string; words: string }

export const xAxes: XAxis[] = [
  { column: 'iteration', words: 'iterations' },
  { column: 'bits_paper', words: "bits sent per agent, the paper's count" },
  { column: 'bits_payload', words: 'bits sent per agent, as encoded' },
  { column: 'seconds', words: 'seconds' },
];

const metricWords: Record<string, string> = {
  loss_max: 'training loss, worst agent',
  grad_norm2_max: 'squared gradient norm, worst agent',
  consensus: 'consensus error',
  accuracy_min: 'test accuracy, worst agent',
  loss_mean: 'training loss of the average model',
  grad_norm2_mean: 'squared gradient norm of the average model',
  accuracy_mean: 'test accuracy of the average model',
  loss: 'training loss',
  grad_norm2: 'squared gradient norm',
  distance2: 'squared distance to the average model',
  accuracy: 'test accuracy',
  payload_bytes: 'bytes sent',
};

export function wordsOf(metric: string): string {
  return metricWords[metric] ?? xAxes.find((x) => x.column === metric)?.words ?? metric;
}

/** Larger is better for accuracies only: all other metrics of the report are errors. */
export function largerIsBetter(metric: string): boolean {
  return metric.startsWith('accuracy');
}

export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A number with `digits` significant digits, in the notation of metrics.csv. */
export function short(value: Cell | undefined, digits = 4): string {
  if (value === null || value === undefined) return '–';
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    return value.toExponential(digits - 1).replace('e+', 'e');
  }
  // toPrecision would turn to an exponent here, so large numbers are rounded to whole ones.
  return size >= 10 ** digits ? String(Math.round(value)) : value.toPrecision(digits);
}

export function fixed(value: Cell | undefined, decimals: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return short(value);
  return value.toFixed(decimals);
}

/** 2026-11-15T06:00:00Z as "2026-11-15 06:00 UTC"; anything else stays as it is. */
export function dateWords(date: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?Z$/.exec(date);
  return parts ? `${parts[1]} ${parts[2]} UTC` : date;
}
