// The sites of a network: who is up, which round it has reached, and for whom it waits.

import type { Site } from './data';
import { html } from './dom';
import type { Store } from './store';
import { short } from './words';

/** 4 -> 0:04, 3725 -> 1:02:05 */
export function durationWords(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (n: number): string => String(n).padStart(2, '0');
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** What status.json says is old if no process has the folder. */
export function stateOf(site: Site): string {
  if (site.up || site.state === 'finished') return site.state;
  return 'down';
}

export function waitWords(site: Site): string {
  return site.up && site.waiting ? `${site.waiting.site}, ${durationWords(site.waiting.seconds)}` : '';
}

const columns: [string, string, (site: Site) => string][] = [
  ['round', 'the round it has completed', (s) => (s.iterations > 0 ? `${s.round} of ${s.iterations}` : '–')],
  ['epoch', 'the time under one membership', (s) => (s.epoch > 0 ? String(s.epoch) : '–')],
  ['neighbours up', 'neighbours with whom it talks', (s) => `${s.connected} of ${s.peers}`],
  ['sent', 'megabits on its connections, both ways with what was sent again', (s) => short(8e-6 * s.sent)],
  ['received', 'megabits on its connections', (s) => short(8e-6 * s.received)],
  ['sent again', 'megabits that a neighbour had lost', (s) => short(8e-6 * s.resent)],
];

function row(site: Site): HTMLElement {
  const state = stateOf(site);
  return html('tr', { 'data-site': site.name },
    html('th', { scope: 'row' }, site.name),
    html('td', { class: `status ${state === 'down' ? 'stopped' : state}` }, state),
    html('td', {}, waitWords(site)),
    ...columns.map(([, , words]) => html('td', { class: 'number' }, words(site))));
}

export function siteSection(store: Store): HTMLElement {
  const body = html('tbody', {});
  const head = html('thead', {}, html('tr', {}, html('th', { scope: 'col' }, 'site'),
    html('th', { scope: 'col' }, 'state'), html('th', { scope: 'col' }, 'waits for, since'),
    ...columns.map(([name, words]) => html('th', { scope: 'col', class: 'number', title: words }, name))));
  const section = html('section', { id: 'sites', 'aria-labelledby': 'sites-title' },
    html('h2', { id: 'sites-title' }, 'Sites'),
    html('p', { class: 'note' }, 'What each site wrote last; bits in megabits. A site that is down ' +
      'makes its neighbours wait: start it again, and all go on.'),
    html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Sites of the network' },
      html('table', { class: 'summary sites' }, head, body)));
  const show = (): void => {
    const { sites } = store.report;
    section.hidden = sites.length === 0;
    body.replaceChildren(...sites.map(row));
  };
  store.on(['data', 'sites'], show);
  show();
  return section;
}
