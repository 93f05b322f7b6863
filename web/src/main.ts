// Reads the data inside the page and builds the sections from it.

import 'uplot/dist/uPlot.min.css';
import './styles.css';
import { configSection, reproduceSection } from './configs';
import { NoReport, parseReport } from './data';
import type { Report } from './data';
import { html } from './dom';
import { colorRules } from './marks';
import { networkSection } from './network';
import { panelSection } from './panels';
import { summarySection } from './table';
import { startTheme, themeButton } from './theme';
import { dateWords, nameColumns } from './words';

const sections = [['summary', 'Summary'], ['curves', 'Curves'], ['network', 'Network'],
  ['configs', 'Configurations'], ['reproduce', 'How to reproduce']] as const;

function header(report: Report): HTMLElement {
  const version = report.version ? `ticopd ${report.version}` : 'ticopd';
  const count = report.runs.length === 1 ? '1 run' : `${report.runs.length} runs`;
  const meta = html('p', { class: 'meta' }, [version, dateWords(report.date), count].filter(Boolean)
    .join(' · '));
  return html('header', {}, html('div', { class: 'head' },
    html('div', {}, html('h1', {}, report.title), meta), themeButton()));
}

function contents(): HTMLElement {
  return html('nav', { 'aria-label': 'Sections' }, html('ul', {},
    ...sections.map(([id, words]) => html('li', {}, html('a', { href: `#${id}` }, words)))));
}

function showReport(page: HTMLElement, report: Report): void {
  document.title = `${report.title} – ticopd report`;
  nameColumns(report.columns);
  document.head.append(colorRules());
  const main = html('main', { id: 'main', tabindex: -1 });
  if (report.runs.length === 0) {
    main.append(html('p', { class: 'problem' }, 'This report holds no run.'));
    page.replaceChildren(header(report), main);
    return;
  }
  const panels = panelSection(report);
  main.append(summarySection(report), panels.element, networkSection(report), configSection(report),
    reproduceSection(report));
  page.replaceChildren(header(report), contents(), main);
  panels.draw();
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
