// Reads the data inside the page and builds the sections from it.

import 'uplot/dist/uPlot.min.css';
import './styles.css';
import { configSection, reproduceSection } from './configs';
import { NoReport, parseReport } from './data';
import type { Report, Run } from './data';
import { html } from './dom';
import { follow } from './live';
import { colorRules } from './marks';
import { networkSection } from './network';
import { panelSection } from './panels';
import { Store } from './store';
import { sweepSection } from './sweep';
import { summarySection } from './table';
import { siteSection } from './sites';
import { startTheme, themeButton } from './theme';
import { dateWords } from './words';

const sections = [['sites', 'Sites'], ['summary', 'Summary'], ['curves', 'Curves'], ['sweep', 'Sweep'],
  ['network', 'Network'], ['configs', 'Configurations'], ['reproduce', 'How to reproduce']] as const;

function metaWords(report: Report): string {
  const version = report.version ? `ticopd ${report.version}` : 'ticopd';
  const count = report.runs.length === 1 ? '1 run' : `${report.runs.length} runs`;
  return [version, dateWords(report.date), count].filter(Boolean).join(' · ');
}

const mostMissing = 6;

function missingRuns(store: Store): HTMLElement {
  const element = html('ul', { class: 'missing meta' });
  const show = (): void => {
    const all = store.report.live?.missing ?? [];
    const more = all.length > mostMissing ? [`and ${all.length - mostMissing} more`] : [];
    element.hidden = all.length === 0;
    element.replaceChildren(...[...all.slice(0, mostMissing), ...more].map((words) => html('li', {}, words)));
  };
  store.on(['data'], show);
  show();
  return element;
}

function header(store: Store): HTMLElement {
  const meta = html('p', { class: 'meta' }, metaWords(store.report));
  store.on(['data'], () => { meta.textContent = metaWords(store.report); });
  const left = html('div', {}, html('h1', {}, store.report.title), meta);
  const live = follow(store);
  if (live) left.append(live, missingRuns(store));
  return html('header', {}, html('div', { class: 'head' }, left, themeButton()));
}

function contents(store: Store): HTMLElement {
  const links = sections.map(([id, words]) => html('li', {}, html('a', { href: `#${id}` }, words)));
  const show = (): void => {
    links[0]!.hidden = store.report.sites.length === 0;
    links[3]!.hidden = store.report.sweep.length === 0;
  };
  store.on(['data'], show);
  show();
  return html('nav', { 'aria-label': 'Sections' }, html('ul', {}, ...links));
}

/** The sections of a report with runs, into the page. */
function fillMain(main: HTMLElement, store: Store): void {
  const panels = panelSection(store);
  main.replaceChildren(siteSection(store), summarySection(store), panels.element, sweepSection(store), networkSection(store),
    configSection(store), reproduceSection(store));
  main.before(contents(store));
  panels.draw();
}

/** A live page waits for the first row: before it nobody knows which metrics the runs have. */
function canFill(report: Report): boolean {
  const logged = (run: Run): boolean => (run.metrics.get('iteration') ?? []).length > 0;
  return report.runs.length > 0 && (report.live === null || report.runs.some(logged));
}

function showReport(page: HTMLElement, report: Report): void {
  document.title = `${report.title} – ticopd report`;
  document.head.append(colorRules());
  const store = new Store(report);
  const main = html('main', { id: 'main', tabindex: -1 });
  page.replaceChildren(header(store), main);
  if (canFill(report)) {
    fillMain(main, store);
    return;
  }
  main.append(html('p', { class: 'problem' }, report.live ? 'No run has logged a row yet.'
    : 'This report holds no run.'));
  let filled = false;
  store.on(['data'], () => {
    if (filled || !canFill(store.report)) return;
    filled = true;
    fillMain(main, store);
  });
}

function showProblem(page: HTMLElement, words: string): void {
  page.replaceChildren(html('main', { id: 'main', tabindex: -1 }, html('h1', {}, 'No report to show'),
    html('p', { class: 'problem', role: 'alert' }, words)));
}

function start(): void {
  startTheme();
  const page = document.getElementById('page')!;
  try {
    showReport(page, parseReport(document.getElementById('ticopd-report')?.textContent ?? ''));
  } catch (error) {
    if (!(error instanceof NoReport)) throw error;
    showProblem(page, error.message);
  }
}

start();
