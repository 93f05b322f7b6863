// Draws the layers of a panel on a canvas, in CSS pixels.

import type { Pieces } from './frame';
import { colorOf, dashOf, drawMarker } from './marks';
import type { Styled } from './marks';
import type { Layer } from './scene';
import { themeColor } from './theme';

export const lineWidth = 1.6;
export const rawOpacity = 0.28;
export const bandOpacity = 0.18;
// More segments are drawn as solid lines one device pixel wide, which browsers draw twenty times as
// fast as wider ones. In a panel that full nobody could tell the dashes apart.
const mostWide = 4000;

export function segmentsOf(layers: Layer[]): number {
  let segments = 0;
  for (const { line, raw } of layers) for (const piece of [...line, ...raw]) segments += piece.length / 2;
  return segments;
}

/** The width of the lines, and whether they are dashed. */
function strokeOf(layers: Layer[]): { width: number; dashed: boolean } {
  return segmentsOf(layers) > mostWide ? { width: 1 / (window.devicePixelRatio || 1), dashed: false }
    : { width: lineWidth, dashed: true };
}

function trace(context: CanvasRenderingContext2D, pieces: Pieces): void {
  context.beginPath();
  for (const piece of pieces) {
    context.moveTo(piece[0]!, piece[1]!);
    for (let i = 2; i < piece.length; i += 2) context.lineTo(piece[i]!, piece[i + 1]!);
  }
}

export function drawLine(
  context: CanvasRenderingContext2D, line: Pieces, styled: Styled, dark: boolean, width: number,
  dashed = true,
): void {
  context.strokeStyle = colorOf(styled, dark);
  context.lineWidth = width;
  context.lineJoin = 'bevel';
  context.setLineDash(dashed ? dashOf(styled) : []);
  trace(context, line);
  context.stroke();
}

/** A thick line made of thin ones beside each other: see mostWide. It follows the cursor. */
export function drawHighlight(
  context: CanvasRenderingContext2D, line: Pieces, styled: Styled, dark: boolean,
): void {
  for (const [dx, dy] of [[0, 0], [-1, -1], [1, 1], [-1, 1], [1, -1]] as const) {
    context.save();
    context.translate(dx, dy);
    drawLine(context, line, styled, dark, 1 / (window.devicePixelRatio || 1), false);
    context.restore();
  }
}

export function drawLayers(
  context: CanvasRenderingContext2D, layers: Layer[], traces: Styled[], dark: boolean,
): void {
  const { width, dashed } = strokeOf(layers);
  const background = themeColor('paper');
  for (const { trace: number, band } of layers) {
    if (band.length === 0) continue;
    context.globalAlpha = bandOpacity;
    context.fillStyle = colorOf(traces[number]!, dark);
    trace(context, band);
    context.fill();
  }
  for (const { trace: number, line, raw, markers } of layers) {
    const styled = traces[number]!;
    context.globalAlpha = rawOpacity;
    if (raw.length > 0) drawLine(context, raw, styled, dark, Math.min(1, width), false);
    context.globalAlpha = 1;
    drawLine(context, line, styled, dark, width, dashed);
    for (const [x, y] of markers) {
      drawMarker(context, styled, x, y, 1, colorOf(styled, dark), background);
    }
  }
  context.setLineDash([]);
}

export function drawDots(
  context: CanvasRenderingContext2D, dots: { x: number; y: number; color: string }[],
): void {
  context.fillStyle = themeColor('paper');
  context.lineWidth = 2;
  context.setLineDash([]);
  for (const { x, y, color } of dots) {
    context.strokeStyle = color;
    context.beginPath();
    context.arc(x, y, 4, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}
