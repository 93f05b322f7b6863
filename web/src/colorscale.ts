// A sequential colour scale with even steps for the eye, dark to light (the stops are viridis).

import type { Cell } from './data';

type Rgb = [number, number, number];

const stops: Rgb[] = [[68, 1, 84], [72, 40, 120], [62, 73, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];

function at(share: number): Rgb {
  const place = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(place));
  const [from, to] = [stops[i]!, stops[i + 1]!];
  return from.map((c, k) => Math.round(c + (to[k]! - c) * (place - i))) as Rgb;
}

const css = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;

/** Black or white, whichever stands out more from the colour (WCAG relative luminance). */
function inkOn(color: Rgb): string {
  const [r, g, b] = color.map((c) => {
    const s = c / 255;
    return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? '#000' : '#fff';
}

export interface Painted { fill: string; ink: string }

export class ColorScale {
  readonly min: number;
  readonly max: number;
  /** Values over more than two decades are coloured by their logarithm. */
  readonly log: boolean;

  constructor(values: Cell[]) {
    const finite = values.filter((v): v is number => v !== null && Number.isFinite(v));
    this.min = finite.reduce((a, b) => Math.min(a, b), Infinity);
    this.max = finite.reduce((a, b) => Math.max(a, b), -Infinity);
    this.log = this.min > 0 && this.max / this.min > 100;
  }

  get empty(): boolean {
    return this.min > this.max;
  }

  /** null for a value that the scale cannot show. */
  paint(value: Cell): Painted | null {
    if (value === null || !Number.isFinite(value)) return null;
    const place = this.log ? Math.log : (v: number): number => v;
    const width = place(this.max) - place(this.min);
    const color = at(width > 0 ? (place(value) - place(this.min)) / width : 0.5);
    return { fill: css(color), ink: inkOn(color) };
  }
}

export function gradientStops(): { offset: number; color: string }[] {
  return stops.map((color, i) => ({ offset: i / (stops.length - 1), color: css(color) }));
}
