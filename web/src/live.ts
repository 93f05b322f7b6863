// A page that "ticopd watch" serves: new rows arrive while runs go on.

import { cell, readLast, readReport, readSites } from './data';
import type { LiveAddress, Run } from './data';
import { html } from './dom';
import type { Store } from './store';

type State = 'connecting' | 'live' | 'ended' | 'lost';
const stateWords: Record<State, string> = {
  connecting: 'connecting', live: 'live', ended: 'ended', lost: 'connection lost, tries again',
};

// Rows come in one by one; drawing each at once would leave no time for the reader's own moves.
const drawEvery = 250;
const retryAfter = 2000;

interface Rows {
  run: number; from: number; metrics: unknown[][]; status: string; iterations: number;
  seconds: number; last: unknown;
}

/** False if the rows do not follow those that the page has. */
export function addRows(run: Run | undefined, columns: string[], rows: Rows): boolean {
  if (!run || rows.metrics.length !== columns.length) return false;
  const had = (run.metrics.get(columns[0]!) ?? []).length;
  if (had !== rows.from) return false;
  columns.forEach((column, i) => run.metrics.get(column)!.push(...(rows.metrics[i] ?? []).map(cell)));
  run.status = rows.status;
  run.iterations = rows.iterations;
  run.seconds = rows.seconds;
  if (rows.last !== null && rows.last !== undefined) run.last = readLast(rows.last);
  return true;
}

class LiveReport {
  readonly element = html('p', { class: 'live', role: 'status' });
  private events: EventSource | null = null;
  private timer = 0;
  private fetching = false;
  private ended = false;

  constructor(private readonly store: Store, private readonly address: LiveAddress) {
    this.connect();
  }

  private set(state: State): void {
    this.element.dataset['state'] = state;
    this.element.textContent = stateWords[state];
  }

  private connect(): void {
    this.set(this.element.dataset['state'] === 'lost' ? 'lost' : 'connecting');
    const events = new EventSource(this.address.events);
    this.events = events;
    events.addEventListener('open', () => this.set(this.ended ? 'ended' : 'live'));
    events.addEventListener('report', (event) => this.take(JSON.parse(event.data as string)));
    events.addEventListener('rows', (event) => this.takeRows(JSON.parse(event.data as string) as Rows));
    events.addEventListener('sites', (event) => {
      this.store.report.sites = readSites(JSON.parse(event.data as string));
      this.store.tell('sites');
    });
    events.addEventListener('end', () => {
      this.ended = true;
      this.set('ended');
      // Groups and what it took to reach the targets are counted by the program.
      void this.fetchReport();
    });
    events.addEventListener('error', () => {
      this.set('lost');
      // The browser tries again by itself, except after an answer that is no stream of events.
      if (events.readyState !== EventSource.CLOSED) return;
      events.close();
      setTimeout(() => { if (this.events === events) this.connect(); }, retryAfter);
    });
  }

  private take(tree: unknown): void {
    const report = readReport(tree);
    // The report of the events need not say where the events come from.
    report.live ??= this.address;
    this.ended = false;
    this.set('live');
    this.store.replace(report);
  }

  private takeRows(rows: Rows): void {
    const { store } = this;
    const run = store.runs[rows.run];
    const before = run?.status;
    if (!addRows(run, [...store.report.columns.keys()], rows)) {
      void this.fetchReport();
      return;
    }
    this.ended = false;
    this.set('live');
    if (before !== rows.status) void this.fetchReport();
    this.timer ||= window.setTimeout(() => {
      this.timer = 0;
      store.grew();
    }, drawEvery);
  }

  private async fetchReport(): Promise<void> {
    if (this.fetching) return;
    this.fetching = true;
    try {
      const answer = await fetch(this.address.report, { cache: 'no-store' });
      if (!answer.ok) return;
      const report = readReport(await answer.json());
      report.live ??= this.address;
      this.store.replace(report);
    } catch {
      // The events say that the connection is lost, and bring the report when it is back.
    } finally {
      this.fetching = false;
    }
  }
}

/** The line that says how the connection is; null in a file. */
export function follow(store: Store): HTMLElement | null {
  const { live } = store.report;
  return live ? new LiveReport(store, live).element : null;
}
