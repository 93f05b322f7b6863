// The points of a run that one panel can show, and the search for the one nearest to the cursor.

import type { Run } from './data';

export interface Curve {
  /** In logged order, ascending or not; only x that the axis can show. */
  x: number[];
  /** null if the axis cannot show the value: an empty cell, nan, inf, or <= 0 on a log axis. */
  y: (number | null)[];
}

export interface Point { x: number; y: number }

export function curveOf(
  run: Run, xColumn: string, yColumn: string, logX: boolean, logY: boolean,
): Curve {
  const xs = run.metrics.get(xColumn) ?? [];
  const ys = run.metrics.get(yColumn) ?? [];
  const curve: Curve = { x: [], y: [] };
  for (let i = 0; i < xs.length; i += 1) {
    const x = xs[i];
    const y = ys[i];
    // Round 0 has no place on a log axis and is left out there.
    if (x === null || x === undefined || !Number.isFinite(x) || (logX && x <= 0)) continue;
    const shown = y !== null && y !== undefined && Number.isFinite(y) && !(logY && y <= 0);
    curve.x.push(x);
    curve.y.push(shown ? y : null);
  }
  return curve;
}

/** The points of a curve that are drawn, without its gaps. */
export function shownPoints(curve: Curve): Point[] {
  const points: Point[] = [];
  curve.x.forEach((x, i) => {
    const y = curve.y[i];
    if (y !== null && y !== undefined) points.push({ x, y });
  });
  return points;
}

/** The point whose x is nearest on the axis (in decades on a log axis); null if there is none. */
export function nearestPoint(points: Point[], x: number, logX: boolean): Point | null {
  const place = (v: number): number => (logX ? Math.log(v) : v);
  const wanted = place(x);
  let best: Point | null = null;
  let distance = Infinity;
  for (const point of points) {
    const away = Math.abs(place(point.x) - wanted);
    if (away < distance) {
      distance = away;
      best = point;
    }
  }
  return best;
}

/** The point `step` places along the curve from x, limited to its ends. */
export function stepAlong(points: Point[], x: number | null, step: number): Point | null {
  if (points.length === 0) return null;
  if (x === null) return points[step < 0 ? points.length - 1 : 0]!;
  const at = points.findIndex((p) => p.x >= x);
  const from = at < 0 ? points.length - 1 : at;
  return points[Math.min(points.length - 1, Math.max(0, from + step))]!;
}

export type Range = [number, number];

// Loops, not Math.min(...values): a long run has more values than a call takes arguments.
function extent(values: Iterable<number>): Range {
  const range: Range = [Infinity, -Infinity];
  for (const value of values) {
    if (value < range[0]) range[0] = value;
    if (value > range[1]) range[1] = value;
  }
  return range;
}

function widen([low, high]: Range, log: boolean, share: number): Range {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return log ? [1, 10] : [0, 1];
  if (log) {
    const factor = high > low ? (high / low) ** share : 2;
    return [low / factor, high * factor];
  }
  const room = high > low ? (high - low) * share : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/** The extent of x over all curves, a little wider than the points so that their markers show. */
export function xExtent(curves: Point[][], log: boolean): Range {
  return widen(extent(curves.flatMap((points) => points.map((p) => p.x))), log, 0.015);
}

/**
 * The extent of y over the visible curves inside an x window. A diverged run may rise by many powers
 * of ten and would flatten the others. So it may stretch the frame by a factor of three (log) or by
 * half of the height (linear), and then leaves it at the top.
 */
export function yExtent(
  curves: Point[][], visible: boolean[], blewUp: boolean[], window: Range, log: boolean,
): Range {
  const steady: number[] = [];
  const wild: number[] = [];
  curves.forEach((points, run) => {
    if (!visible[run]) return;
    for (const { x, y } of points) {
      if (x >= window[0] && x <= window[1]) (blewUp[run] ? wild : steady).push(y);
    }
  });
  if (steady.length === 0) return widen(extent(wild), log, 0.05);
  let [low, high] = extent(steady);
  if (wild.length > 0) {
    const [wildLow, wildHigh] = extent(wild);
    const room = (high - low) / 2;
    const floor = log ? low / 3 : low - room;
    const ceiling = log ? high * 3 : high + room;
    low = Math.min(low, Math.max(floor, wildLow));
    high = Math.max(high, Math.min(ceiling, wildHigh));
  }
  return widen([low, high], log, 0.05);
}
