// Search, grouping and order: the same choices over the table and over the list of runs.

import { html, select } from './dom';
import { groupChoices } from './order';
import type { Choice } from './order';
import type { Store } from './store';
import { capital, wordsOf } from './words';

function sortChoices(store: Store): Choice[] {
  return [{ value: '', text: 'as given' }, { value: 'label', text: 'name' },
    { value: 'algorithm', text: 'method' }, { value: 'codec', text: 'codec' },
    ...store.metrics().map((value) => ({ value, text: wordsOf(value) })),
    { value: 'bits_payload', text: 'bits sent' }, { value: 'seconds', text: 'seconds' }];
}

/** A report with one run needs none of this. */
export function orderControls(store: Store, where: string, sorts: boolean): HTMLElement {
  const search = html('input', { type: 'search', id: `${where}-search`, autocomplete: 'off',
    spellcheck: 'false', placeholder: 'name, method, key=value …' });
  search.addEventListener('input', () => store.setOrder({ query: search.value }));
  const group = select(`${where}-group`, groupChoices(store.report), store.order.groupBy,
    (groupBy) => store.setOrder({ groupBy }));
  const sort = select(`${where}-sort`, sortChoices(store), store.order.sortBy,
    (sortBy) => store.setOrder({ sortBy }));
  const down = html('button', { type: 'button', class: 'small', id: `${where}-down`,
    'aria-label': 'From the largest to the smallest',
    click: () => store.setOrder({ descending: !store.order.descending }) }, '↓');
  const show = (): void => {
    const { query, groupBy, sortBy, descending } = store.order;
    if (search.value !== query) search.value = query;
    group.value = groupBy;
    sort.value = sortBy;
    // The table can be sorted by more columns than the list names.
    if (sort.selectedIndex < 0 && sortBy) {
      sort.append(html('option', { value: sortBy }, capital(sortBy.replace(/^target \d+/, 'target:'))));
      sort.value = sortBy;
    }
    down.setAttribute('aria-pressed', String(descending));
  };
  store.on(['order'], show);
  show();
  const field = (id: string, words: string, ...inputs: HTMLElement[]): HTMLElement =>
    html('div', {}, html('label', { for: id }, words), ...inputs);
  return html('div', { class: 'controls order' }, field(`${where}-search`, 'Search', search),
    field(`${where}-group`, 'Group by', group),
    ...(sorts ? [field(`${where}-sort`, 'Sort by', sort, down)] : []));
}
