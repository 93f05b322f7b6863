// What one panel shows, as lines in pixels: drawn on the canvas, and written to SVG, from here.

import { lowerBound } from './curves';
import type { Curve } from './curves';
import { piecesOf, toX, toY } from './frame';
import type { Frame, Pieces } from './frame';

export interface Layer {
  trace: number;
  line: Pieces;
  /** The line before smoothing; empty without smoothing. */
  raw: Pieces;
  /** Closed outlines of the band. */
  band: Pieces;
  markers: [number, number][];
}

const markerSpacing = 64;
// Beyond these the markers cover each other and the lines.
const mostMarked = 20;

/** The rows inside the window, and one beyond each end so that lines reach the frame. */
function rowsIn(f: Frame, curve: Curve): [number, number] {
  return [Math.max(0, lowerBound(curve.at.x, f.x[0]) - 1),
    Math.min(curve.x.length, lowerBound(curve.at.x, f.x[1]) + 1)];
}

function bandOf(f: Frame, curve: Curve, from: number, to: number): Pieces {
  const { x, low, high } = curve.at;
  if (!low || !high) return [];
  // Gaps must be the same above and below, or the edges would not fit.
  const whole = (side: Float64Array): Float64Array => side.map((v, i) =>
    (Number.isNaN(low[i]) || Number.isNaN(high[i]) ? NaN : v));
  const above = piecesOf(f, x, whole(high), from, to);
  const below = piecesOf(f, x, whole(low), from, to);
  return above.map((edge, i) => {
    const outline = [...edge];
    const back = below[i]!;
    for (let k = back.length - 2; k >= 0; k -= 2) outline.push(back[k]!, back[k + 1]!);
    return outline;
  });
}

/** Markers a fixed distance apart, and shifted from trace to trace so that they do not pile up. */
function markersOf(f: Frame, curve: Curve, trace: number, from: number, to: number): [number, number][] {
  const markers: [number, number][] = [];
  let next = f.left + ((trace * 23) % markerSpacing);
  let last = to - 1;
  while (last >= from && Number.isNaN(curve.at.y[last])) last -= 1;
  for (let i = from; i <= last; i += 1) {
    if (Number.isNaN(curve.at.y[i])) continue;
    const x = toX(f, curve.at.x[i]!);
    if (x < next && i !== last) continue;
    next = x + markerSpacing;
    const y = toY(f, curve.at.y[i]!);
    if (x >= f.left - 1 && x <= f.left + f.width + 1) markers.push([x, y]);
  }
  return markers;
}

export function layerOf(f: Frame, curve: Curve, trace: number, marked: boolean): Layer {
  const [from, to] = rowsIn(f, curve);
  const smooth = curve.at.y !== curve.at.raw;
  return {
    trace,
    line: piecesOf(f, curve.at.x, curve.at.y, from, to),
    raw: smooth ? piecesOf(f, curve.at.x, curve.at.raw, from, to) : [],
    band: bandOf(f, curve, from, to),
    markers: marked ? markersOf(f, curve, trace, from, to) : [],
  };
}

export function sceneOf(f: Frame, curves: Curve[], visible: boolean[]): Layer[] {
  const marked = visible.filter(Boolean).length <= mostMarked;
  return curves.flatMap((curve, trace) => (visible[trace] ? [layerOf(f, curve, trace, marked)] : []));
}
