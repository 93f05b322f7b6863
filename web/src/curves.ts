// The points of a trace that one panel can show, in the units of its axes, and searches in them.

import type { Cell } from './data';

/** Columns of one trace: a run, or the middle and the band of a group. */
export interface Cells { x: Cell[]; y: Cell[]; low?: Cell[]; high?: Cell[] }

export interface Curve {
  /** Ascending; only x that the axis can show. */
  x: Float64Array;
  /** NaN if the axis cannot show the value: an empty cell, nan, inf, or <= 0 on a log axis. */
  y: Float64Array;
  /** The same on the axes: decades on a log axis. `y` there is smoothed, `raw` is not. */
  at: { x: Float64Array; y: Float64Array; raw: Float64Array; low?: Float64Array; high?: Float64Array };
}

export interface Point { x: number; y: number }
export type Range = [number, number];

/** The middle of the 2 * reach + 1 rows around each row; gaps neither count nor spread. */
export function smoothed(values: Float64Array, reach: number): Float64Array {
  if (reach <= 0) return values;
  const sums = new Float64Array(values.length + 1);
  const counts = new Int32Array(values.length + 1);
  for (let i = 0; i < values.length; i += 1) {
    const gap = Number.isNaN(values[i]);
    sums[i + 1] = sums[i]! + (gap ? 0 : values[i]!);
    counts[i + 1] = counts[i]! + (gap ? 0 : 1);
  }
  const means = new Float64Array(values.length);
  for (let i = 0; i < values.length; i += 1) {
    // As far to the left as to the right, or the ends would lean towards the inside.
    const wide = Math.min(reach, i, values.length - 1 - i);
    const [from, to] = [i - wide, i + wide + 1];
    means[i] = Number.isNaN(values[i]) ? NaN : (sums[to]! - sums[from]!) / (counts[to]! - counts[from]!);
  }
  return means;
}

function placed(cells: Cell[] | undefined, rows: number[], log: boolean): Float64Array {
  const made = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i += 1) {
    const value = cells?.[rows[i]!] ?? NaN;
    made[i] = !Number.isFinite(value) || (log && value <= 0) ? NaN : log ? Math.log10(value) : value;
  }
  return made;
}

/** The cells themselves, where the axis shows them. */
function plain(cells: Cell[], rows: number[], shown: Float64Array): Float64Array {
  const made = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i += 1) made[i] = Number.isNaN(shown[i]) ? NaN : cells[rows[i]!] ?? NaN;
  return made;
}

/** Round 0 has no place on a log axis and is left out there. */
function shownRows(xs: Cell[], logX: boolean): number[] {
  const rows: number[] = [];
  let ascending = true;
  let before = -Infinity;
  for (let i = 0; i < xs.length; i += 1) {
    const x = xs[i];
    if (x === null || x === undefined || !Number.isFinite(x) || (logX && x <= 0)) continue;
    if (x < before) ascending = false;
    before = x;
    rows.push(i);
  }
  return ascending ? rows : rows.sort((a, b) => xs[a]! - xs[b]!);
}

export function curveOf(cells: Cells, logX: boolean, logY: boolean, reach = 0): Curve {
  const rows = shownRows(cells.x, logX);
  const atX = placed(cells.x, rows, logX);
  const raw = placed(cells.y, rows, logY);
  const curve: Curve = { x: plain(cells.x, rows, atX), y: plain(cells.y, rows, raw),
    at: { x: atX, y: smoothed(raw, reach), raw } };
  if (cells.low && cells.high) {
    // A band that reaches below zero has no lower edge on a log axis: there it ends at its line.
    const low = placed(cells.low, rows, logY).map((v, i) => (Number.isNaN(v) ? raw[i]! : v));
    curve.at.low = smoothed(low, reach);
    curve.at.high = smoothed(placed(cells.high, rows, logY), reach);
  }
  return curve;
}

/** The first index whose value is at least `wanted`. */
export function lowerBound(values: Float64Array, wanted: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The row whose x is nearest on the axis and that has a value; -1 if there is none. */
export function nearestRow(curve: Curve, atX: number): number {
  const { x, y } = curve.at;
  let right = lowerBound(x, atX);
  let left = right - 1;
  while (right < x.length && Number.isNaN(y[right])) right += 1;
  while (left >= 0 && Number.isNaN(y[left])) left -= 1;
  if (right >= x.length) return left;
  if (left < 0) return right;
  return atX - x[left]! <= x[right]! - atX ? left : right;
}

/** The row with a value `step` such rows from the one at x, limited to the ends; -1: there is none. */
export function stepAlong(curve: Curve, x: number | null, step: number): number {
  const rows: number[] = [];
  curve.y.forEach((y, i) => { if (!Number.isNaN(y)) rows.push(i); });
  if (rows.length === 0) return -1;
  if (x === null) return rows[step < 0 ? rows.length - 1 : 0]!;
  const found = rows.findIndex((row) => curve.x[row]! >= x);
  const from = found < 0 ? rows.length - 1 : found;
  return rows[Math.min(rows.length - 1, Math.max(0, from + step))]!;
}

export function hasPoints(curve: Curve): boolean {
  return curve.y.some((y) => !Number.isNaN(y));
}

class Extent {
  low = Infinity;
  high = -Infinity;
  add(value: number | undefined): void {
    if (value === undefined || Number.isNaN(value)) return;
    if (value < this.low) this.low = value;
    if (value > this.high) this.high = value;
  }
  get empty(): boolean { return this.low > this.high; }
}

function widen({ low, high, empty }: Extent, log: boolean, share: number): Range {
  if (empty) return [0, 1];
  const single = log ? Math.log10(2) : Math.abs(high) * 0.1 || 1;
  const room = high > low ? (high - low) * share : single;
  return [low - room, high + room];
}

/** The extent of x on the axis, a little wider than the points so that their markers show. */
export function xExtent(curves: Curve[], log: boolean): Range {
  const all = new Extent();
  for (const { y, at } of curves) {
    let [first, last] = [0, y.length - 1];
    while (first <= last && Number.isNaN(y[first])) first += 1;
    while (last > first && Number.isNaN(y[last])) last -= 1;
    if (first > last) continue;
    all.add(at.x[first]);
    all.add(at.x[last]);
  }
  return widen(all, log, 0.015);
}

/**
 * The extent of y, on the axis, over the visible curves inside an x window. A diverged run may rise
 * by many powers of ten and would flatten the others. So it may stretch the frame by a factor of
 * three (log) or by half of the height (linear), and then leaves it at the top.
 */
export function yExtent(
  curves: Curve[], visible: boolean[], blewUp: boolean[], window: Range, log: boolean,
): Range {
  const steady = new Extent();
  const wild = new Extent();
  curves.forEach(({ at }, trace) => {
    if (!visible[trace]) return;
    const extent = blewUp[trace] ? wild : steady;
    const last = lowerBound(at.x, window[1] + 1e-12);
    for (let i = lowerBound(at.x, window[0]); i < last; i += 1) {
      extent.add(at.raw[i]);
      extent.add(at.low?.[i]);
      extent.add(at.high?.[i]);
    }
  });
  if (steady.empty) return widen(wild, log, 0.05);
  if (!wild.empty) {
    const room = log ? Math.log10(3) : (steady.high - steady.low) / 2;
    const [floor, ceiling] = [steady.low - room, steady.high + room];
    steady.low = Math.min(steady.low, Math.max(floor, wild.low));
    steady.high = Math.max(steady.high, Math.min(ceiling, wild.high));
  }
  return widen(steady, log, 0.05);
}
