// The summary: one row per run, its last metrics, and what it took to reach each target.

import { orderControls } from './controls';
import type { Report, Run, Target } from './data';
import { finalCell } from './data';
import { html } from './dom';
import { lineSample } from './marks';
import { arrange } from './order';
import type { Section } from './order';
import type { Store } from './store';
import { fixed, largerIsBetter, short, wordsOf } from './words';

interface Field { head: string; sort: string; words: string; value: (run: Run) => string; full?: (run: Run) => string }

const final = (column: string, head: string): Field => ({
  head,
  sort: column,
  words: `${wordsOf(column)}, at the last logged round`,
  value: (run) => short(finalCell(run, column)),
  full: (run) => String(finalCell(run, column) ?? ''),
});

const megabits = (run: Run): string => {
  const bits = finalCell(run, 'bits_payload');
  return bits === null ? '–' : short(bits / 1e6);
};

const fields = (): Field[] => [
  { head: 'bits per coordinate', sort: 'rate', words: 'bits really encoded per coordinate and round',
    value: (run) => fixed(run.rate, 2) },
  { head: 'iterations', sort: 'iterations', words: 'iterations made', value: (run) => String(run.iterations) },
  final('loss_max', 'loss'),
  final('grad_norm2_max', 'gradient²'),
  final('consensus', 'consensus error'),
  final('accuracy_min', 'accuracy'),
  { head: 'Mbit sent', sort: 'bits_payload', words: 'megabits sent per agent, as encoded',
    value: megabits },
  { head: 'seconds', sort: 'seconds', words: 'seconds', value: (run) => fixed(run.seconds, 1) },
];

export function targetWords(target: Target): string {
  return `${wordsOf(target.metric)} ${largerIsBetter(target.metric) ? '≥' : '≤'} ${target.value}`;
}

function statusCell(run: Run): HTMLElement {
  const cell = html('td', { class: `status ${run.status}` }, run.status || '–');
  if (run.reason) cell.append(html('span', { class: 'reason' }, run.reason));
  return cell;
}

function targetCells(run: Run, target: number): HTMLElement[] {
  const reached = run.reached[target];
  const values = reached
    ? [String(reached.iteration), short(reached.megabits), fixed(reached.seconds, 1)]
    : ['–', '–', '–'];
  return values.map((value, i) => html('td', { class: i === 0 ? 'number first' : 'number' }, value));
}

function runRow(run: Run, index: number, report: Report): HTMLElement {
  const row = html('tr', { 'data-run': index },
    html('th', { scope: 'row' }, lineSample(run), html('span', {}, run.label)),
    statusCell(run), html('td', {}, run.algorithm), html('td', { class: 'codec' }, run.codec));
  for (const field of fields()) {
    row.append(html('td', { class: 'number', title: field.full?.(run) ?? '' }, field.value(run)));
  }
  report.targets.forEach((_, i) => row.append(...targetCells(run, i)));
  return row;
}

/** The words of a column, which sort by it; once more, downwards; a third time, as given. */
function sortButton(store: Store, words: string, sort: string): HTMLButtonElement {
  return html('button', { type: 'button', class: 'sort', 'data-sort': sort, click: () => {
    const { sortBy, descending } = store.order;
    if (sortBy !== sort) store.setOrder({ sortBy: sort, descending: false });
    else if (!descending) store.setOrder({ descending: true });
    else store.setOrder({ sortBy: '', descending: false });
  } }, words);
}

function head(store: Store): HTMLElement {
  const { report } = store;
  const span = report.targets.length > 0 ? 2 : 1;
  const top = html('tr', {});
  for (const [name, sort] of [['run', 'label'], ['status', 'status'], ['algorithm', 'algorithm'],
    ['codec', 'codec']] as const) {
    top.append(html('th', { scope: 'col', rowspan: span }, sortButton(store, name, sort)));
  }
  for (const field of fields()) {
    top.append(html('th', { scope: 'col', rowspan: span, class: 'number', title: field.words },
      sortButton(store, field.head, field.sort)));
  }
  const rows = [top];
  if (span === 2) {
    const second = html('tr', {});
    report.targets.forEach((target, t) => {
      top.append(html('th', { scope: 'colgroup', colspan: 3, class: 'target first' },
        `to reach ${targetWords(target)}`));
      [['iterations', 'iteration'], ['Mbit', 'megabits'], ['seconds', 'seconds']].forEach(
        ([name, what], i) => second.append(html('th', { scope: 'col',
          class: i === 0 ? 'number first' : 'number' }, sortButton(store, name!, `target ${t} ${what}`))));
    });
    rows.push(second);
  }
  return html('thead', {}, ...rows);
}

function sectionBody(section: Section, report: Report): HTMLElement {
  const width = 4 + fields().length + 3 * report.targets.length;
  const title = section.name ? [html('tr', { class: 'section' }, html('th', { scope: 'rowgroup',
    colspan: width }, `${section.name} (${section.runs.length})`))] : [];
  return html('tbody', {}, ...title,
    ...section.runs.map((run) => runRow(report.runs[run]!, run, report)));
}

export function summarySection(store: Store): HTMLElement {
  const table = html('table', { class: 'summary' });
  const count = html('p', { class: 'note', role: 'status' });
  const box = html('div', { class: 'scroll', tabindex: 0, role: 'region',
    'aria-label': 'Summary of the runs' }, table);
  let headOf = '';
  const render = (): void => {
    const { report, order } = store;
    const sections = arrange(report, order);
    const targets = JSON.stringify(report.targets);
    // The head stays while rows arrive: it may have the focus.
    if (targets !== headOf || !table.tHead) table.replaceChildren(head(store));
    headOf = targets;
    for (const body of [...table.tBodies]) body.remove();
    table.append(...sections.map((section) => sectionBody(section, report)));
    for (const button of table.tHead!.querySelectorAll<HTMLElement>('.sort')) {
      const sorted = button.dataset['sort'] === order.sortBy;
      button.parentElement!.setAttribute('aria-sort',
        !sorted ? 'none' : order.descending ? 'descending' : 'ascending');
    }
    const found = sections.reduce((sum, section) => sum + section.runs.length, 0);
    box.classList.toggle('tall', report.runs.length > 20);
    count.textContent = order.query.trim() ? `${found} of ${report.runs.length} runs` : '';
  };
  store.on(['data', 'order'], render);
  render();
  return html('section', { id: 'summary', 'aria-labelledby': 'summary-title' },
    html('h2', { id: 'summary-title' }, 'Summary'),
    html('p', { class: 'note' }, 'Metrics at the last logged round; loss, gradient² (the squared ' +
      'norm) and accuracy are those of the worst agent. A dash means never reached or not measured.'),
    orderControls(store, 'table', false), count,
    box);
}
