// The list of runs, to switch them on and off in the panels: a button each, with a sample of its line.

import { orderControls } from './controls';
import { html } from './dom';
import { lineSample } from './marks';
import { arrange } from './order';
import type { Store } from './store';
import type { Trace } from './traces';

class List {
  readonly element = html('div', { class: 'run-list' });
  private readonly folded = new Set<string>();
  private readonly buttons = new Map<Trace, HTMLButtonElement>();
  private shownKey = '';

  constructor(private readonly store: Store) {}

  /** The runs that the search finds. */
  found(): number[] {
    return arrange(this.store.report, { ...this.store.order, groupBy: '' })
      .flatMap((section) => section.runs);
  }

  render(): void {
    const { store } = this;
    const traces = store.traces;
    const ofRun = new Map<number, number>();
    traces.forEach((trace, i) => trace.runs.forEach((run) => ofRun.set(run, i)));
    const sections = arrange(store.report, store.order).map(({ name, runs }) =>
      ({ name, traces: [...new Set(runs.map((run) => ofRun.get(run)!))] }));
    // Rows that arrive change no entry of the list, and must not take the focus from it.
    const key = JSON.stringify([sections, [...this.folded], store.bands,
      traces.map((trace) => [trace.label, trace.status, trace.style])]);
    if (key === this.shownKey) return;
    this.shownKey = key;
    this.buttons.clear();
    this.element.replaceChildren(...sections.flatMap((section) => this.section(section)));
    if (sections.every((section) => section.traces.length === 0)) {
      this.element.append(html('p', { class: 'note' }, 'No run matches.'));
    }
    this.showPressed();
  }

  showPressed(): void {
    for (const [trace, button] of this.buttons) {
      button.setAttribute('aria-pressed', String(this.store.isShown(trace)));
    }
  }

  private section({ name, traces }: { name: string; traces: number[] }): HTMLElement[] {
    const list = html('ul', { class: this.store.traces.length > 16 ? 'runs many' : 'runs' }, ...traces.map((i) => html('li', {}, this.entry(i))));
    if (!name) return [list];
    const runs = traces.flatMap((i) => this.store.traces[i]!.runs);
    const fold = html('button', { type: 'button', class: 'fold', 'aria-expanded': String(!this.folded.has(name)),
      click: () => {
        if (!this.folded.delete(name)) this.folded.add(name);
        list.hidden = this.folded.has(name);
        fold.setAttribute('aria-expanded', String(!list.hidden));
      } }, `${name} (${traces.length})`);
    list.hidden = this.folded.has(name);
    const all = html('button', { type: 'button', class: 'small', 'aria-label': `Show or hide ${name}`,
      click: () => this.store.show(runs, !runs.some((run) => this.store.shown[run])) }, 'on/off');
    return [html('div', { class: 'section-head' }, fold, all), list];
  }

  private entry(index: number): HTMLButtonElement {
    const { store } = this;
    const trace = store.traces[index]!;
    const words = html('span', { class: 'run-label' }, trace.label);
    if (trace.grouped) words.append(' ', html('span', { class: 'count' }, `${trace.runs.length} runs`));
    if (trace.status !== 'finished') words.append(' ', html('span', { class: `status ${trace.status}` }, trace.status));
    const button = html('button', { type: 'button', class: 'run', 'data-run': trace.runs[0]!,
      click: () => store.show(trace.runs, !store.isShown(trace)),
      mouseenter: () => store.highlight(index), mouseleave: () => store.highlight(null),
      focus: () => store.highlight(index), blur: () => store.highlight(null) }, lineSample(trace), words);
    this.buttons.set(trace, button);
    return button;
  }
}

export function legend(store: Store): HTMLElement {
  const list = new List(store);
  const only = html('button', { type: 'button', class: 'small', 'data-show': 'found', hidden: true,
    'aria-label': 'Show only the runs that the search finds',
    click: () => store.showOnly(list.found()) }, 'Found');
  const render = (): void => {
    list.render();
    only.hidden = store.order.query.trim() === '';
  };
  store.on(['data', 'view', 'order'], render);
  store.on(['shown', 'data', 'view'], () => list.showPressed());
  render();
  const every = (): number[] => store.runs.map((_, i) => i);
  const controls = orderControls(store, 'list', true);
  controls.hidden = store.runs.length < 2 && store.report.live === null;
  return html('div', { class: 'legend', role: 'group', 'aria-label': 'Runs shown in the panels' },
    html('div', { class: 'legend-head' },
      html('h3', {}, 'Runs'),
      html('button', { type: 'button', class: 'small', 'data-show': 'all',
        'aria-label': 'Show all runs', click: () => store.show(every(), true) }, 'All'),
      html('button', { type: 'button', class: 'small', 'data-show': 'none',
        'aria-label': 'Show none of the runs', click: () => store.show(every(), false) }, 'None'), only),
    controls, list.element);
}
