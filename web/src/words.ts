// Texts for the reader: the names of metrics and axes, and numbers at a readable length.

import type { Cell } from './data';

/** Columns that may be an x axis. */
export const xColumns = ['iteration', 'bits_paper', 'bits_payload', 'bits_link', 'seconds'];

export interface Column { title: string; higherIsBetter: boolean }

// The columns of metrics.csv, as the report names them. One page shows one report.
let columns = new Map<string, Column>();

export function nameColumns(named: Map<string, Column>): void {
  columns = named;
}

/** What the network shows of single agents, which is in no column. */
const agentWords: Record<string, string> = {
  loss: 'training loss',
  grad_norm2: 'squared gradient norm',
  distance2: 'squared distance to the average model',
  accuracy: 'test accuracy',
  payload_bytes: 'bytes sent',
};

export function wordsOf(metric: string): string {
  return columns.get(metric)?.title ?? agentWords[metric] ?? metric;
}

export function largerIsBetter(metric: string): boolean {
  return columns.get(metric)?.higherIsBetter ?? false;
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
