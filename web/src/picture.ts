// A chart as SVG text: of a panel for export, and of the sweep for the page itself.

import { valueOf } from './frame';
import type { Frame, Pieces } from './frame';
import { colorOf, dashOf, markerOf } from './marks';
import type { Styled } from './marks';
import { bandOpacity, lineWidth, rawOpacity } from './paint';
import type { Layer } from './scene';
import { themeColor } from './theme';
import { linearTicks, logTicks, tickLabels } from './ticks';

export interface Tick { at: number; label: string }

export interface Chart {
  title: string;
  frame: Frame;
  xWords: string;
  yWords: string;
  xTicks?: Tick[];
  layers: Layer[];
  /** By the number of a layer's trace. */
  traces: (Styled & { label: string })[];
  width: number;
  height: number;
  dark: boolean;
}

const font = 'system-ui, -apple-system, &quot;Segoe UI&quot;, Roboto, sans-serif';
// A key of more would be longer than the chart.
const mostInKey = 40;
const keyLine = 17;

export const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')
  .replace(/>/g, '&gt;').replace(/"/g, '&quot;')
  // XML has no place for control characters.
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');

const n = (v: number): string => String(Math.round(v * 100) / 100);

function path(pieces: Pieces, closed = ''): string {
  return pieces.map((piece) => {
    let d = '';
    for (let i = 0; i < piece.length; i += 2) d += `${i === 0 ? 'M' : 'L'}${n(piece[i]!)} ${n(piece[i + 1]!)}`;
    return d + closed;
  }).join('');
}

export function ticksOf(low: number, high: number, log: boolean, most: number): Tick[] {
  const values = log ? logTicks(valueOf(low, true), valueOf(high, true), most)
    : linearTicks(low, high, most);
  const labels = tickLabels(values);
  return values.map((value, i) => ({ at: log ? Math.log10(value) : value, label: labels[i]! }));
}

function axes(chart: Chart): string {
  const { frame: f } = chart;
  const [ink, grid] = [themeColor('ink-soft'), themeColor('grid')];
  const text = (x: number, y: number, anchor: string, words: string, more = ''): string =>
    `<text x="${n(x)}" y="${n(y)}" text-anchor="${anchor}" fill="${ink}" font-size="12"${more}>` +
    `${escaped(words)}</text>`;
  let made = '';
  const yTicks = ticksOf(f.y[0], f.y[1], f.logY, Math.max(2, Math.floor(f.height / 30)));
  for (const { at, label } of yTicks) {
    const y = f.top + (1 - (at - f.y[0]) / (f.y[1] - f.y[0])) * f.height;
    made += `<path d="M${n(f.left)} ${n(y)}h${n(f.width)}" stroke="${grid}"/>` +
      text(f.left - 6, y + 4, 'end', label);
  }
  const xTicks = chart.xTicks ?? ticksOf(f.x[0], f.x[1], f.logX, Math.max(2, Math.floor(f.width / 52)));
  for (const { at, label } of xTicks) {
    const x = f.left + ((at - f.x[0]) / (f.x[1] - f.x[0])) * f.width;
    made += `<path d="M${n(x)} ${n(f.top)}v${n(f.height)}" stroke="${grid}"/>` +
      text(x, f.top + f.height + 17, 'middle', label);
  }
  made += text(f.left + f.width / 2, f.top + f.height + 36, 'middle', chart.xWords);
  const middle = f.top + f.height / 2;
  made += text(14, middle, 'middle', chart.yWords, ` transform="rotate(-90 14 ${n(middle)})"`);
  return made;
}

function marker(styled: Styled, x: number, y: number, color: string, paper: string): string {
  const { path: d, look } = markerOf(styled);
  const fill = look === 'filled' ? color : look === 'open' ? paper : 'none';
  const stroke = look === 'filled' ? 'none' : color;
  return `<path d="${d}" transform="translate(${n(x)} ${n(y)})" fill="${fill}" stroke="${stroke}" ` +
    'stroke-width="1.5"/>';
}

function dashes(styled: Styled): string {
  const dash = dashOf(styled);
  return dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : '';
}

function layerText(chart: Chart, layer: Layer): string {
  const styled = chart.traces[layer.trace]!;
  const color = colorOf(styled, chart.dark);
  let made = '';
  if (layer.raw.length > 0) {
    made += `<path d="${path(layer.raw)}" fill="none" stroke="${color}" opacity="${rawOpacity}"/>`;
  }
  made += `<path class="curve" d="${path(layer.line)}" fill="none" stroke="${color}" ` +
    `stroke-width="${lineWidth}" stroke-linejoin="bevel"${dashes(styled)}/>`;
  for (const [x, y] of layer.markers) made += marker(styled, x, y, color, themeColor('paper'));
  return made;
}

function bandText(chart: Chart, layer: Layer): string {
  if (layer.band.length === 0) return '';
  return `<path d="${path(layer.band, 'Z')}" fill="${colorOf(chart.traces[layer.trace]!, chart.dark)}" ` +
    `opacity="${bandOpacity}"/>`;
}

function key(chart: Chart, top: number): string {
  const named = chart.layers.slice(0, mostInKey);
  const columns = Math.max(1, Math.floor(chart.width / 260));
  const wide = chart.width / columns;
  const most = Math.floor((wide - 60) / 6.6);
  const entries = named.map(({ trace }, i) => {
    const styled = chart.traces[trace]!;
    const color = colorOf(styled, chart.dark);
    const [x, y] = [(i % columns) * wide + 10, top + Math.floor(i / columns) * keyLine];
    const label = styled.label.length > most ? `${styled.label.slice(0, most - 1)}…` : styled.label;
    return `<path d="M${n(x)} ${n(y)}h36" stroke="${color}" stroke-width="1.8"${dashes(styled)}/>` +
      marker(styled, x + 18, y, color, themeColor('paper')) +
      `<text x="${n(x + 44)}" y="${n(y + 4)}" font-size="12" fill="${themeColor('ink')}">` +
      `${escaped(label)}</text>`;
  });
  const others = chart.layers.length - named.length;
  if (others > 0) {
    const y = top + Math.ceil(named.length / columns) * keyLine + 4;
    entries.push(`<text x="10" y="${n(y)}" font-size="12" fill="${themeColor('ink-soft')}">` +
      `and ${others} more</text>`);
  }
  return entries.join('');
}

export function keyHeight(chart: Pick<Chart, 'layers' | 'width'>): number {
  const columns = Math.max(1, Math.floor(chart.width / 260));
  const lines = Math.ceil(Math.min(mostInKey, chart.layers.length) / columns) +
    Number(chart.layers.length > mostInKey);
  return lines * keyLine + 12;
}

/** The chart without the element around it. */
export function chartBody(chart: Chart): string {
  const { frame: f } = chart;
  const drawn = chart.layers.map((layer) => bandText(chart, layer)).join('') +
    chart.layers.map((layer) => layerText(chart, layer)).join('');
  return axes(chart) +
    `<clipPath id="inside"><rect x="${n(f.left)}" y="${n(f.top)}" width="${n(f.width)}" ` +
    `height="${n(f.height)}"/></clipPath><g clip-path="url(#inside)">${drawn}</g>` +
    key(chart, f.top + f.height + 58);
}

export function svgText(chart: Chart): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${chart.width}" height="${chart.height}" ` +
    `viewBox="0 0 ${chart.width} ${chart.height}" font-family="${font}">` +
    `<title>${escaped(chart.title)}</title>` +
    `<rect width="${chart.width}" height="${chart.height}" fill="${themeColor('paper')}"/>` +
    `${chartBody(chart)}</svg>\n`;
}
