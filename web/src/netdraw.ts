// Draws agents and links on a canvas: up to 10,000 agents and more links than elements could show.

import type { ColorScale } from './colorscale';
import type { Cell } from './data';
import type { Layout, Place } from './layouts';
import { themeColor } from './theme';

// Beyond these the canvas is one grey, and drawing takes longer than a frame.
const mostLinks = 60_000;
const margin = 22;

/** How far apart neighbouring agents typically are, in the unit square. */
function spacing(places: Place[]): number {
  if (places.length < 2) return 1;
  const cells = Math.max(1, Math.floor(Math.sqrt(places.length)));
  const grid = new Map<number, Place[]>();
  const cell = (v: number): number => Math.min(cells - 1, Math.max(0, Math.floor(v * cells)));
  for (const place of places) {
    const key = cell(place[0]) * cells + cell(place[1]);
    grid.set(key, [...(grid.get(key) ?? []), place]);
  }
  const nearest = places.filter((_, i) => i % Math.ceil(places.length / 400) === 0).map((place) => {
    let best = 1;
    for (let dx = -1; dx <= 1; dx += 1) {
      for (let dy = -1; dy <= 1; dy += 1) {
        for (const other of grid.get((cell(place[0]) + dx) * cells + cell(place[1]) + dy) ?? []) {
          if (other !== place) best = Math.min(best, Math.hypot(place[0] - other[0], place[1] - other[1]));
        }
      }
    }
    return best;
  }).sort((a, b) => a - b);
  return nearest[Math.floor(nearest.length / 4)]!;
}

export class NetworkDrawing {
  readonly canvas = document.createElement('canvas');
  private readonly links = document.createElement('canvas');
  private places: Place[] = [];
  private layout: Layout | null = null;
  private edges: [number, number][] = [];
  private radius = 4;
  private linksDrawn = '';

  setGraph(layout: Layout, edges: [number, number][]): void {
    this.layout = layout;
    this.edges = edges;
    this.places = [];
    this.linksDrawn = '';
  }

  /** Takes the width that there is; a drawing that is flat takes less height. */
  fit(width: number): void {
    const layout = this.layout;
    if (!layout || width <= 0) return;
    const ys = layout.places.map((place) => place[1]);
    const [top, bottom] = [ys.reduce((a, b) => Math.min(a, b), 1), ys.reduce((a, b) => Math.max(a, b), 0)];
    const inner = width - 2 * margin;
    const height = Math.max(90, (bottom - top) * inner + 2 * margin);
    const shift = (height - (bottom - top) * inner) / 2 - top * inner;
    this.places = layout.places.map(([x, y]) => [margin + x * inner, shift + y * inner]);
    this.radius = Math.min(18, Math.max(1.4, 0.36 * spacing(layout.places) * inner));
    const ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.links]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.linksDrawn = '';
  }

  get shownLinks(): number {
    return Math.min(mostLinks, this.edges.length);
  }

  place(agent: number): Place | undefined {
    return this.places[agent];
  }

  /** The agent under a point of the canvas; -1 if none is near. */
  agentAt(x: number, y: number): number {
    let best = -1;
    let away = Math.max(8, this.radius + 4);
    this.places.forEach(([px, py], i) => {
      const d = Math.hypot(px - x, py - y);
      if (d < away) [away, best] = [d, i];
    });
    return best;
  }

  draw(values: Cell[] | null, scale: ColorScale, chosen: number): void {
    const context = this.canvas.getContext('2d');
    // Before it is in the page the drawing has no size, and so its agents no places.
    if (!context || this.places.length !== this.layout?.places.length) return;
    this.drawLinks();
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.links, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawAgents(context, values, scale);
    const at = this.places[chosen];
    if (at) {
      context.strokeStyle = themeColor('accent');
      context.lineWidth = 3;
      context.beginPath();
      context.arc(...at, this.radius + 3, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  private drawAgents(context: CanvasRenderingContext2D, values: Cell[] | null, scale: ColorScale): void {
    // One path for each colour: a path for each agent would cost much more.
    const byColor = new Map<string, number[]>();
    this.places.forEach((_, i) => {
      const fill = scale.paint(values?.[i] ?? null)?.fill ?? '';
      const group = byColor.get(fill);
      if (group) group.push(i);
      else byColor.set(fill, [i]);
    });
    context.strokeStyle = themeColor('ink');
    context.lineWidth = 1;
    for (const [fill, agents] of byColor) {
      context.fillStyle = fill || themeColor('shade');
      context.beginPath();
      for (const i of agents) {
        const [x, y] = this.places[i]!;
        context.moveTo(x + this.radius, y);
        context.arc(x, y, this.radius, 0, 2 * Math.PI);
      }
      context.fill();
      context.setLineDash(fill ? [] : [3, 2]);
      if (this.radius >= 3.5) context.stroke();
    }
    context.setLineDash([]);
    if (this.radius < 9) return;
    context.font = `${Math.max(10, this.radius * 0.8)}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    this.places.forEach(([x, y], i) => {
      context.fillStyle = scale.paint(values?.[i] ?? null)?.ink ?? themeColor('ink');
      context.fillText(String(i), x, y);
    });
  }

  private drawLinks(): void {
    const color = themeColor('edge');
    if (this.linksDrawn === color) return;
    this.linksDrawn = color;
    const context = this.links.getContext('2d');
    if (!context || !this.layout) return;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.links.width, this.links.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const dense = this.edges.length > 300;
    context.strokeStyle = color;
    context.globalAlpha = this.edges.length > 3 * this.places.length ? 0.3 : dense ? 0.6 : 1;
    context.lineWidth = dense ? 0.7 : 1.4;
    context.beginPath();
    const stride = Math.ceil(this.edges.length / mostLinks);
    for (let k = 0; k < this.edges.length; k += stride) {
      const [a, b] = this.edges[k]!;
      const [from, to] = [this.places[a]!, this.places[b]!];
      if (this.layout.wraps(a, b)) {
        this.stub(context, from, to);
        this.stub(context, to, from);
      } else {
        context.moveTo(...from);
        context.lineTo(...to);
      }
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  /** A link that leaves on this side and comes back on the other. */
  private stub(context: CanvasRenderingContext2D, from: Place, to: Place): void {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const reach = Math.min(margin - 2, 2.2 * this.radius + 3) / length;
    context.moveTo(...from);
    context.lineTo(from[0] - (to[0] - from[0]) * reach, from[1] - (to[1] - from[1]) * reach);
  }
}
