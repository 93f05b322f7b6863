// The network of a run, drawn as what it is, its agents coloured by a metric at a logged round.

import { metricsOfAgents, agentMetrics, roundsOf, roundWords, valuesAt, valuesOfAllRounds } from './agents';
import { ColorScale, gradientStops } from './colorscale';
import { csvText } from './csv';
import type { Cell, Run } from './data';
import { html, select, svg } from './dom';
import { layoutOf } from './layouts';
import { NetworkDrawing } from './netdraw';
import { fileName, saveText } from './save';
import type { Store } from './store';
import { onThemeChange } from './theme';
import { capital, short, wordsOf } from './words';

// More rows than anybody reads would make the page slow; the CSV has all.
const mostRows = 200;

class NetworkView {
  readonly drawing = html('div', { class: 'drawing', tabindex: 0, role: 'application',
    'aria-roledescription': 'network' });
  readonly said = html('p', { class: 'agent-said', role: 'status' });
  readonly scaleBar = html('div', { class: 'scale-bar' });
  readonly time = html('div', { class: 'time' });
  readonly note = html('p', { class: 'note' });
  readonly values: HTMLDetailsElement;
  private readonly table = html('div', { class: 'scroll', tabindex: 0, role: 'region',
    'aria-label': 'Values of the agents' });
  private readonly slider = html('input', { type: 'range', id: 'network-round', min: 0, step: 1 });
  private readonly round = html('output', { for: 'network-round' });
  /** One scale for all rounds shows how far the agents came, one of the round how they differ. */
  private readonly ownScale = html('input', { type: 'checkbox', id: 'network-own-scale' });
  private readonly picture = new NetworkDrawing();
  private run: Run | null = null;
  private metric = '';
  private graph = '';
  private scale = new ColorScale([]);
  private chosen = -1;
  /** The slider stands at the last round until it is moved away, also while rows arrive. */
  private atEnd = true;

  constructor() {
    this.drawing.append(this.picture.canvas);
    this.values = html('details', {}, html('summary', {}, 'All values as a table'),
      html('button', { type: 'button', class: 'small', 'data-save': 'csv', click: () => this.save() },
        'Save as CSV'), this.table);
    this.values.addEventListener('toggle', () => this.showTable());
    this.time.append(html('label', { for: 'network-round' }, 'Round'), this.slider, this.round,
      html('label', { class: 'check' }, this.ownScale, 'colours of this round alone'));
    this.ownScale.addEventListener('change', () => this.showRound());
    this.slider.addEventListener('input', () => {
      this.atEnd = Number(this.slider.value) === Number(this.slider.max);
      this.showRound();
    });
    this.drawing.addEventListener('mousemove', (event) => this.pointAt(event));
    this.drawing.addEventListener('click', (event) => this.pointAt(event));
    this.drawing.addEventListener('keydown', (event) => this.onKey(event));
    onThemeChange(() => this.draw());
    new ResizeObserver(() => {
      this.picture.fit(this.drawing.clientWidth);
      this.draw();
    }).observe(this.drawing);
  }

  show(run: Run, metric: string): void {
    const graph = JSON.stringify([run.folder, run.graph, run.agents, run.edges.length, run.positions !== null]);
    if (graph !== this.graph) {
      this.graph = graph;
      this.chosen = -1;
      const layout = layoutOf(run.graph, run.agents, run.edges, run.positions);
      this.picture.setGraph(layout, run.edges);
      this.picture.fit(this.drawing.clientWidth);
      this.drawing.dataset['shape'] = layout.shape;
    }
    [this.run, this.metric] = [run, metric];
    this.drawing.setAttribute('aria-label', `Network of ${run.label}, agents coloured by ` +
      `${wordsOf(metric)}. Arrow keys go from agent to agent.`);
    const rounds = roundsOf(run);
    const before = Number(this.slider.value);
    this.slider.max = String(Math.max(0, rounds.length - 1));
    this.slider.value = String(this.atEnd ? rounds.length - 1 : Math.min(before, rounds.length - 1));
    this.time.hidden = rounds.length < 2;
    this.showRound();
  }

  private row(): number { return Number(this.slider.value); }

  private current(): Cell[] | null {
    return this.run && valuesAt(this.run, this.metric, roundsOf(this.run)[this.row()] ?? -1);
  }

  private showRound(): void {
    const { run } = this;
    if (!run) return;
    const round = roundsOf(run)[this.row()] ?? 0;
    this.scale = new ColorScale(this.ownScale.checked ? this.current() ?? []
      : valuesOfAllRounds(run, this.metric));
    this.scaleBar.replaceChildren(...(this.scale.empty ? [] : bar(this.metric, this.scale)));
    const words = roundWords(run, this.row());
    this.round.textContent = words ? `${round}: ${words}` : String(round);
    this.slider.setAttribute('aria-valuetext', `round ${round}`);
    this.note.textContent = this.noteOf(run);
    this.drawing.dataset['coloured'] = String(this.current() !== null);
    if (this.chosen >= 0) this.say();
    else this.said.textContent = run.agents > 0 ? 'Point at an agent, or use the arrow keys.' : '';
    this.showTable();
    this.draw();
  }

  private draw(): void {
    this.picture.draw(this.current(), this.scale, this.chosen);
  }

  private noteOf(run: Run): string {
    const shape = this.drawing.dataset['shape'];
    const drawn = shape && shape !== run.graph && run.graph !== 'ring' ? `, drawn as a ${shape}` : '';
    const links = this.picture.shownLinks < run.edges.length
      ? ` ${this.picture.shownLinks} of the links are drawn.` : '';
    const graph = `${capital(run.graph || 'network')} of ${run.agents} agents with ` +
      `${run.edges.length} links${drawn}.${links}`;
    if (this.current() !== null) return graph;
    if (run.last === null && run.history === null) {
      return `${graph} This run has no values of single agents: it diverged, has not ended or was ` +
        'made by an older version.';
    }
    if (this.scale.empty) return `${graph} This run has no ${wordsOf(this.metric)} of single agents.`;
    const kept = run.last?.values.has(this.metric) ? 'for its last round only' : 'at other rounds only';
    return `${graph} This run kept the ${wordsOf(this.metric)} of single agents ${kept}.`;
  }

  private pointAt(event: MouseEvent): void {
    const box = this.picture.canvas.getBoundingClientRect();
    const agent = this.picture.agentAt(event.clientX - box.left, event.clientY - box.top);
    if (agent < 0 || agent === this.chosen) return;
    this.choose(agent);
  }

  private choose(agent: number): void {
    this.chosen = agent;
    this.say();
    this.draw();
  }

  private say(): void {
    const value = this.current()?.[this.chosen];
    const words = `agent ${this.chosen}: ${wordsOf(this.metric)} ${short(value, 5)}`;
    if (this.said.textContent !== words) this.said.textContent = words;
  }

  private onKey(event: KeyboardEvent): void {
    const count = this.run?.agents ?? 0;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined || count === 0) return;
    event.preventDefault();
    // From no agent the first step forward comes to the first, backward to the last.
    const from = this.chosen < 0 && step < 0 ? 0 : this.chosen;
    this.choose((from + step + count) % count);
  }

  private columns(): string[] {
    const last = this.run?.last;
    return last && roundsOf(this.run!)[this.row()] === last.iteration
      ? agentMetrics.filter((metric) => last.values.has(metric))
      : this.current() ? [this.metric] : [];
  }

  private cells(agent: number, columns: string[]): Cell[] {
    const round = roundsOf(this.run!)[this.row()] ?? -1;
    return columns.map((metric) => valuesAt(this.run!, metric, round)?.[agent] ?? null);
  }

  private showTable(): void {
    const { run } = this;
    if (!run || !this.values.open) return;
    const columns = this.columns();
    const count = columns.length > 0 ? run.agents : 0;
    const head = html('tr', {}, html('th', { scope: 'col' }, 'agent'), ...columns.map((metric) =>
      html('th', { scope: 'col', class: 'number' }, wordsOf(metric))));
    const rows = Array.from({ length: Math.min(mostRows, count) }, (_, i) => html('tr', {},
      html('th', { scope: 'row' }, String(i)), ...this.cells(i, columns).map((value) =>
        html('td', { class: 'number', title: String(value ?? '') }, short(value, 5)))));
    const more = count > mostRows ? [html('p', { class: 'note' },
      `and ${count - mostRows} more; the CSV has all.`)] : [];
    this.table.replaceChildren(html('table', {}, html('thead', {}, head), html('tbody', {}, ...rows)),
      ...more);
  }

  private save(): void {
    const { run } = this;
    if (!run) return;
    const columns = this.columns();
    const rows = Array.from({ length: run.agents }, (_, i) => [i, ...this.cells(i, columns)]);
    saveText(`${fileName(run.label, 'agents')}.csv`, csvText(['agent', ...columns], rows), 'text/csv');
  }
}

function bar(metric: string, scale: ColorScale): HTMLElement[] {
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

export function networkSection(store: Store): HTMLElement {
  const view = new NetworkView();
  const controls = html('div', { class: 'controls' });
  const chosen = { folder: '', metric: '' };
  let offered = '';
  const render = (): void => {
    const { runs } = store;
    const metricsHere = metricsOfAgents(runs);
    const metrics = metricsHere.length > 0 ? metricsHere : agentMetrics;
    const first = runs.find((run) => run.folder === chosen.folder) ??
      runs.find((run) => run.last !== null) ?? runs[0]!;
    chosen.folder = first.folder;
    if (!metrics.includes(chosen.metric)) chosen.metric = metrics[0]!;
    const show = (): void => view.show(store.runs.find((run) => run.folder === chosen.folder) ?? first,
      chosen.metric);
    const now = JSON.stringify([runs.map((run) => [run.folder, run.label]), metrics]);
    if (now !== offered) {
      offered = now;
      const runChoice = select('network-run', runs.map((run, i) => ({ value: String(i), text: run.label })),
        String(runs.indexOf(first)), (value) => { chosen.folder = store.runs[Number(value)]!.folder; show(); });
      const metricChoice = select('network-metric', metrics.map((m) => ({ value: m, text: wordsOf(m) })),
        chosen.metric, (value) => { chosen.metric = value; show(); });
      controls.replaceChildren(
        html('div', {}, html('label', { for: 'network-run' }, 'Run'), runChoice),
        html('div', {}, html('label', { for: 'network-metric' }, 'Colour by'), metricChoice));
    }
    show();
  };
  store.on(['data'], render);
  render();
  return html('section', { id: 'network', 'aria-labelledby': 'network-title' },
    html('h2', { id: 'network-title' }, 'Network'), controls, view.note,
    html('div', { class: 'network' }, view.drawing,
      html('div', { class: 'network-side' }, view.time, view.scaleBar, view.said, view.values)));
}
