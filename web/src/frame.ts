// From the values of a panel to its pixels. Ranges are kept on the axes: decades on a log axis.

import type { Range } from './curves';

export interface Frame {
  x: Range;
  y: Range;
  logX: boolean;
  logY: boolean;
  left: number;
  top: number;
  width: number;
  height: number;
}

// A canvas loses lines whose ends lie too far away.
const far = 1e5;
const limited = (v: number): number => Math.min(far, Math.max(-far, v));

export const toX = (f: Frame, at: number): number =>
  limited(f.left + ((at - f.x[0]) / (f.x[1] - f.x[0])) * f.width);
export const toY = (f: Frame, at: number): number =>
  limited(f.top + (1 - (at - f.y[0]) / (f.y[1] - f.y[0])) * f.height);

export const valueOf = (at: number, log: boolean): number => (log ? 10 ** at : at);
export const placeOf = (value: number, log: boolean): number => (log ? Math.log10(value) : value);

/** Lines in pixels: x and y in turn, one list for each piece between gaps. */
export type Pieces = number[][];

/**
 * The line through the values `y` over `x` as it looks in the frame. Each column of pixels keeps the
 * first, lowest, highest and last point, so 10^5 rows cost no more than the panel has pixels.
 */
export function piecesOf(
  f: Frame, x: Float64Array, y: Float64Array, from: number, to: number,
): Pieces {
  const pieces: Pieces = [];
  let piece: number[] = [];
  for (let i = from; i < to;) {
    if (Number.isNaN(y[i])) {
      if (piece.length > 0) pieces.push(piece);
      piece = [];
      i += 1;
      continue;
    }
    const column = Math.floor(toX(f, x[i]!));
    let [low, high, last] = [i, i, i];
    let next = i + 1;
    for (; next < to && !Number.isNaN(y[next]) && Math.floor(toX(f, x[next]!)) === column; next += 1) {
      if (y[next]! < y[low]!) low = next;
      if (y[next]! > y[high]!) high = next;
      last = next;
    }
    let before = -1;
    for (const row of [i, Math.min(low, high), Math.max(low, high), last]) {
      if (row !== before) piece.push(toX(f, x[row]!), toY(f, y[row]!));
      before = row;
    }
    i = next;
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}
