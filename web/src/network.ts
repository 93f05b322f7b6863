// The network of a run: its agents on a circle, coloured by a metric of the last logged round.

import { ColorScale, gradientStops } from './colorscale';
import type { Cell, Report, Run } from './data';
import { html, select, svg } from './dom';
import { capital, short, wordsOf } from './words';

const metrics = ['loss', 'grad_norm2', 'distance2', 'accuracy', 'payload_bytes'];
const half = 220;
const circle = 178;

interface Place { x: number; y: number; dx: number; dy: number }

function places(count: number): Place[] {
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
    return { x: circle * dx, y: circle * dy, dx, dy };
  });
}

class NetworkView {
  readonly drawing = html('div', { class: 'drawing' });
  readonly said = html('p', { class: 'agent-said', 'aria-hidden': 'true' });
  readonly scaleBar = html('div', { class: 'scale-bar' });
  readonly table = html('div', { class: 'scroll', tabindex: 0, role: 'region',
    'aria-label': 'Values of the agents' });
  readonly note = html('p', { class: 'note' });
  private focused = 0;

  show(run: Run, metric: string): void {
    this.focused = 0;
    const values = run.last?.values.get(metric) ?? [];
    const scale = new ColorScale(values);
    this.note.textContent = this.noteOf(run, metric, scale);
    this.said.textContent = 'Point at an agent, or focus it and use the arrow keys.';
    this.drawing.replaceChildren(this.draw(run, metric, values, scale));
    this.scaleBar.replaceChildren(...(scale.empty ? [] : this.bar(metric, scale)));
    this.table.replaceChildren(this.valueTable(run));
  }

  private noteOf(run: Run, metric: string, scale: ColorScale): string {
    const shape = `${capital(run.graph || 'network')} of ${run.agents} agents with ` +
      `${run.edges.length} links.`;
    if (run.last === null) {
      return `${shape} This run has no values of single agents: it diverged or was made by an ` +
        'older version.';
    }
    if (scale.empty) return `${shape} This run has no ${wordsOf(metric)} of single agents.`;
    return `${shape} Values at round ${run.last.iteration}.`;
  }

  private draw(run: Run, metric: string, values: Cell[], scale: ColorScale): SVGSVGElement {
    const spots = places(run.agents);
    const radius = Math.max(3, Math.min(19, (0.78 * Math.PI * circle) / Math.max(1, run.agents)));
    const links = run.edges.map(([a, b]) => svg('line', {
      x1: spots[a]!.x, y1: spots[a]!.y, x2: spots[b]!.x, y2: spots[b]!.y }));
    const agents = spots.map((spot, i) =>
      this.agent(i, spot, radius, run.agents, `agent ${i}: ${wordsOf(metric)} ${short(values[i], 5)}`,
        scale.paint(values[i] ?? null)));
    const picture = svg('svg', { viewBox: `${-half} ${-half} ${2 * half} ${2 * half}`, role: 'group',
      'aria-label': `Network of ${run.label}, agents coloured by ${wordsOf(metric)}` },
    svg('g', { class: run.edges.length > 300 ? 'links dense' : 'links' }, ...links),
    svg('g', { class: 'agents' }, ...agents));
    picture.addEventListener('keydown', (event) => this.onKey(event, agents));
    return picture;
  }

  private agent(
    index: number, spot: Place, radius: number, count: number, words: string,
    painted: { fill: string; ink: string } | null,
  ): SVGGElement {
    const group = svg('g', { class: painted ? 'agent' : 'agent unknown', role: 'img',
      tabindex: index === 0 ? 0 : -1, 'aria-label': words },
    svg('circle', { cx: spot.x, cy: spot.y, r: radius, style: painted ? `fill:${painted.fill}` : '' }));
    // Numbers are inside the circles of few agents, beside those of more, and hidden beyond sixty.
    if (count <= 24) {
      group.append(svg('text', { x: spot.x, y: spot.y, style: painted ? `fill:${painted.ink}` : '',
        'font-size': Math.max(10, radius * 0.8) }, String(index)));
    } else if (count <= 60) {
      group.append(svg('text', { class: 'beside', x: spot.x + spot.dx * (radius + 11),
        y: spot.y + spot.dy * (radius + 11), 'font-size': 11 }, String(index)));
    }
    const say = (): void => { this.said.textContent = words; };
    group.addEventListener('mouseenter', say);
    group.addEventListener('focus', say);
    return group;
  }

  /** One tab stop for the whole drawing; arrows walk along the circle. */
  private onKey(event: KeyboardEvent, agents: SVGGElement[]): void {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined || agents.length === 0) return;
    event.preventDefault();
    agents[this.focused]!.setAttribute('tabindex', '-1');
    this.focused = (this.focused + step + agents.length) % agents.length;
    agents[this.focused]!.setAttribute('tabindex', '0');
    agents[this.focused]!.focus();
  }

  private bar(metric: string, scale: ColorScale): HTMLElement[] {
    const stops = gradientStops().map((s) => svg('stop', { offset: s.offset, 'stop-color': s.color }));
    const picture = svg('svg', { viewBox: '0 0 300 14', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      svg('defs', {}, svg('linearGradient', { id: 'scale-colors' }, ...stops)),
      svg('rect', { width: 300, height: 14, fill: 'url(#scale-colors)' }));
    return [
      html('p', { class: 'scale-title' }, capital(wordsOf(metric)) + (scale.log ? ', log colours' : '')),
      html('div', { class: 'scale-picture' }, picture),
      html('p', { class: 'scale-ends' },
        html('span', { title: String(scale.min) }, short(scale.min)),
        html('span', { title: String(scale.max) }, short(scale.max)))];
  }

  private valueTable(run: Run): HTMLElement {
    const shown = metrics.filter((metric) => run.last?.values.has(metric));
    const head = html('tr', {}, html('th', { scope: 'col' }, 'agent'), ...shown.map((metric) =>
      html('th', { scope: 'col', class: 'number' }, wordsOf(metric))));
    const rows = Array.from({ length: run.last === null ? 0 : run.agents }, (_, i) =>
      html('tr', {}, html('th', { scope: 'row' }, String(i)), ...shown.map((metric) => {
        const value = run.last?.values.get(metric)?.[i];
        return html('td', { class: 'number', title: String(value ?? '') }, short(value, 5));
      })));
    return html('table', {}, html('thead', {}, head), html('tbody', {}, ...rows));
  }
}

export function networkSection(report: Report): HTMLElement {
  const { runs } = report;
  const view = new NetworkView();
  const first = Math.max(0, runs.findIndex((run) => run.last !== null));
  const metricsHere = metrics.filter((m) => runs.some((run) => run.last?.values.has(m)));
  const offered = metricsHere.length > 0 ? metricsHere : metrics;
  const chosen = { run: first, metric: offered[0]! };
  const show = (): void => view.show(runs[chosen.run]!, chosen.metric);
  const runChoice = select('network-run', runs.map((run, i) => ({ value: String(i), text: run.label })),
    String(first), (value) => { chosen.run = Number(value); show(); });
  const metricChoice = select('network-metric', offered.map((m) => ({ value: m, text: wordsOf(m) })),
    chosen.metric, (value) => { chosen.metric = value; show(); });
  show();
  return html('section', { id: 'network', 'aria-labelledby': 'network-title' },
    html('h2', { id: 'network-title' }, 'Network'),
    html('div', { class: 'controls' },
      html('div', {}, html('label', { for: 'network-run' }, 'Run'), runChoice),
      html('div', {}, html('label', { for: 'network-metric' }, 'Colour by'), metricChoice)),
    view.note,
    html('div', { class: 'network' }, view.drawing,
      html('div', { class: 'network-side' }, view.scaleBar, view.said,
        html('details', {}, html('summary', {}, 'All values as a table'), view.table))));
}
