// The summary: one row per run, its last metrics, and what it took to reach each target.

import type { Report, Run, Target } from './data';
import { finalCell } from './data';
import { html } from './dom';
import { lineSample } from './marks';
import { fixed, largerIsBetter, short, wordsOf } from './words';

interface Field { head: string; words: string; value: (run: Run) => string; full?: (run: Run) => string }

const final = (column: string, head: string): Field => ({
  head,
  words: `${wordsOf(column)}, at the last logged round`,
  value: (run) => short(finalCell(run, column)),
  full: (run) => String(finalCell(run, column) ?? ''),
});

const megabits = (run: Run): string => {
  const bits = finalCell(run, 'bits_payload');
  return bits === null ? '–' : short(bits / 1e6);
};

const fields = (): Field[] => [
  { head: 'bits per coordinate', words: 'bits really encoded per coordinate and round',
    value: (run) => fixed(run.rate, 2) },
  { head: 'iterations', words: 'iterations made', value: (run) => String(run.iterations) },
  final('loss_max', 'loss'),
  final('grad_norm2_max', 'gradient²'),
  final('consensus', 'consensus error'),
  final('accuracy_min', 'accuracy'),
  { head: 'Mbit sent', words: 'megabits sent per agent, as encoded', value: megabits },
  { head: 'seconds', words: 'seconds', value: (run) => fixed(run.seconds, 1) },
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

function runRow(run: Run, report: Report): HTMLElement {
  const row = html('tr', {},
    html('th', { scope: 'row' }, lineSample(run), html('span', {}, run.label)),
    statusCell(run), html('td', {}, run.algorithm), html('td', { class: 'codec' }, run.codec));
  for (const field of fields()) {
    row.append(html('td', { class: 'number', title: field.full?.(run) ?? '' }, field.value(run)));
  }
  report.targets.forEach((_, i) => row.append(...targetCells(run, i)));
  return row;
}

function head(report: Report): HTMLElement {
  const span = report.targets.length > 0 ? 2 : 1;
  const top = html('tr', {});
  for (const name of ['run', 'status', 'algorithm', 'codec']) {
    top.append(html('th', { scope: 'col', rowspan: span }, name));
  }
  for (const field of fields()) {
    top.append(html('th', { scope: 'col', rowspan: span, class: 'number', title: field.words },
      field.head));
  }
  const rows = [top];
  if (span === 2) {
    const second = html('tr', {});
    for (const target of report.targets) {
      top.append(html('th', { scope: 'colgroup', colspan: 3, class: 'target first' },
        `to reach ${targetWords(target)}`));
      ['iterations', 'Mbit', 'seconds'].forEach((name, i) => second.append(
        html('th', { scope: 'col', class: i === 0 ? 'number first' : 'number' }, name)));
    }
    rows.push(second);
  }
  return html('thead', {}, ...rows);
}

export function summarySection(report: Report): HTMLElement {
  const table = html('table', { class: 'summary' }, head(report),
    html('tbody', {}, ...report.runs.map((run) => runRow(run, report))));
  return html('section', { id: 'summary', 'aria-labelledby': 'summary-title' },
    html('h2', { id: 'summary-title' }, 'Summary'),
    html('p', { class: 'note' }, 'Metrics at the last logged round; loss, gradient² (the squared ' +
      'norm) and accuracy are those of the worst agent. A dash means never reached or not measured.'),
    html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Summary of the runs' },
      table));
}
