// How a run looks: colour by algorithm, dash by codec, marker by run, as in the static figure.
// The markers alone tell the runs apart, so the panels can be read in black and white.

import type { Style } from './data';
import { html, svg } from './dom';

const lightColors = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000',
  '#8C6D1F'];
// In the dark theme black would be invisible, and blue and brown dim.
const darkColors = ['#3D9BDC', '#E8702A', '#1DB58B', '#D890B8', '#E69F00', '#7CC4EE', '#C8C8C8',
  '#B8964A'];
const dashes: number[][] = [[], [7, 4], [2, 3], [8, 3, 2, 3], [14, 5]];

// Drawn around (0, 0) with a radius of about 4.
const shapes = [
  'M3.8 0A3.8 3.8 0 1 1 -3.8 0A3.8 3.8 0 1 1 3.8 0Z',
  'M-3.4 -3.4H3.4V3.4H-3.4Z',
  'M0 -4.4L4.2 3.2H-4.2Z',
  'M0 -4.8L4.4 0L0 4.8L-4.4 0Z',
  'M0 4.4L4.2 -3.2H-4.2Z',
  'M0 -4.8L1.3 -1.6L4.6 -1.5L2 .6L2.9 3.9L0 2L-2.9 3.9L-2 .6L-4.6 -1.5L-1.3 -1.6Z',
  'M-4.4 0L3.2 -4.2V4.2Z',
  'M4.4 0L-3.2 -4.2V4.2Z',
];
const strokes = ['M-4 0H4M0 -4V4', 'M-3.4 -3.4L3.4 3.4M-3.4 3.4L3.4 -3.4'];

/** A run, a trace or a group. */
export interface Styled { style: Style }

export interface Marker { path: string; look: 'filled' | 'open' | 'stroke' }

/** Eight filled shapes, the same eight open, then plus and cross. */
export function markerOf(run: Styled): Marker {
  const number = run.style.marker % (2 * shapes.length + strokes.length);
  if (number < shapes.length) return { path: shapes[number]!, look: 'filled' };
  if (number < 2 * shapes.length) return { path: shapes[number - shapes.length]!, look: 'open' };
  return { path: strokes[number - 2 * shapes.length]!, look: 'stroke' };
}

export function colorOf(run: Styled, dark: boolean): string {
  const colors = dark ? darkColors : lightColors;
  return colors[run.style.color % colors.length]!;
}

export function dashOf(run: Styled): number[] {
  return dashes[run.style.dash % dashes.length]!;
}

/** The style sheet chooses the colour by class, so a sample follows the theme. */
export function colorRules(): HTMLStyleElement {
  const rules = lightColors.map((light, i) =>
    `.run-color-${i}{--run:${light}}:root[data-theme=dark] .run-color-${i}{--run:${darkColors[i]}}`);
  return html('style', {}, rules.join('\n'));
}

export function colorClass(run: Styled): string {
  return `run-color-${run.style.color % lightColors.length}`;
}

/** A piece of the run's line with its marker, for the legend, the table and the readout. */
export function lineSample(run: Styled): SVGSVGElement {
  const marker = markerOf(run);
  return svg('svg', { class: `sample ${colorClass(run)}`, viewBox: '0 0 40 14', width: 40, height: 14,
    'aria-hidden': 'true', focusable: 'false' },
  svg('line', { x1: 0, y1: 7, x2: 40, y2: 7, 'stroke-dasharray': dashOf(run).join(' ') || 'none' }),
  svg('path', { class: `marker ${marker.look}`, d: marker.path, transform: 'translate(20 7)' }));
}

/** The marker at a pixel of the canvas; `ratio` is the number of canvas pixels per CSS pixel. */
export function drawMarker(
  context: CanvasRenderingContext2D, run: Styled, x: number, y: number, ratio: number, color: string,
  background: string,
): void {
  const marker = markerOf(run);
  const path = new Path2D(marker.path);
  context.save();
  context.translate(x, y);
  context.scale(ratio, ratio);
  context.setLineDash([]);
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  if (marker.look !== 'stroke') {
    context.fillStyle = marker.look === 'filled' ? color : background;
    context.fill(path);
  }
  if (marker.look !== 'filled') context.stroke(path);
  context.restore();
}
