// The full configuration of each run, and the command that repeats the runs.

import type { Report, Run } from './data';
import { html } from './dom';
import type { Store } from './store';

/** The old way to copy: on pages from file:// the browser may refuse the clipboard interface. */
function copyBySelection(text: string): boolean {
  const area = html('textarea', { class: 'unseen', 'aria-hidden': 'true', tabindex: -1 });
  area.value = text;
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    copied = false;
  }
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyButton(words: string, text: string, subject: string): HTMLElement {
  const said = html('span', { class: 'said', role: 'status' });
  const button = html('button', { type: 'button', class: 'small copy', 'aria-label': `${words}: ${subject}` },
    words);
  button.addEventListener('click', () => {
    void copy(text).then((copied) => {
      said.textContent = copied ? 'copied' : 'this browser does not let the page copy: select the text';
      setTimeout(() => { said.textContent = ''; }, 4000);
    });
  });
  return html('p', { class: 'copy-line' }, button, said);
}

function facts(run: Run): HTMLElement {
  const machine = Object.entries(run.machine)
    .map(([name, value]) => `${name.replace(/_/g, ' ')} ${value}`).join(', ');
  const pairs: [string, string][] = [
    ['digest', run.digest], ['data', run.data], ['dimension', String(run.dimension)],
    ['network', `${run.graph}, ${run.agents} agents, ${run.edges.length} links`], ['machine', machine],
  ];
  const made = html('dl', { class: 'facts' });
  for (const [name, value] of pairs) {
    if (value) made.append(html('div', {}, html('dt', {}, name), html('dd', {}, value)));
  }
  return made;
}

function configDetails(run: Run): HTMLElement {
  return html('details', { class: 'config' },
    html('summary', {}, run.label),
    facts(run),
    copyButton('Copy the TOML', run.toml, run.label),
    html('pre', { tabindex: 0, role: 'region', 'aria-label': `Configuration of ${run.label}` },
      html('code', {}, run.toml)));
}

/** The contents of a section, made again when runs appear: rows alone change nothing in it. */
function renewed(store: Store, section: HTMLElement, make: (report: Report) => HTMLElement[]): HTMLElement {
  let made = '';
  const render = (): void => {
    const key = store.runs.map((run) => `${run.folder}\n${run.digest}`).join('\n');
    if (key === made) return;
    made = key;
    const open = new Set([...section.querySelectorAll('details[open] > summary')]
      .map((summary) => summary.textContent ?? ''));
    section.replaceChildren(...make(store.report));
    for (const details of section.querySelectorAll('details')) {
      details.open = open.has(details.firstElementChild?.textContent ?? '');
    }
  };
  store.on(['data'], render);
  render();
  return section;
}

export function configSection(store: Store): HTMLElement {
  const section = html('section', { id: 'configs', 'aria-labelledby': 'configs-title' });
  return renewed(store, section, (report) => [
    html('h2', { id: 'configs-title' }, 'Configurations'),
    html('p', { class: 'note' }, 'Each run with every setting it used, defaults included.'),
    html('div', { class: report.runs.length > 12 ? 'scroll tall' : '' }, ...report.runs.map(configDetails))]);
}

function codeLines(lines: string[], subject: string): HTMLElement[] {
  const text = lines.join('\n');
  return [html('pre', { class: lines.length > 24 ? 'scroll tall' : '', tabindex: 0, role: 'region', 'aria-label': subject }, html('code', {}, text)),
    copyButton('Copy the commands', text, subject)];
}

export function reproduceSection(store: Store): HTMLElement {
  const section = html('section', { id: 'reproduce', 'aria-labelledby': 'reproduce-title' });
  return renewed(store, section, commands);
}

function commands(report: Report): HTMLElement[] {
  const made: HTMLElement[] = [html('h2', { id: 'reproduce-title' }, 'How to reproduce')];
  if (report.command) {
    made.push(html('p', {}, `All runs and this report, with ticopd ${report.version}:`),
      ...codeLines([report.command], 'The command for everything'));
  }
  const lines = report.runs.flatMap((run) => [
    `ticopd run ${run.folder}.toml --out ${run.folder}`, `ticopd verify ${run.folder}`]);
  made.push(
    html('p', {}, 'One run alone: copy its configuration from above into a file, run it, and let ',
      html('code', {}, 'verify'), ' make it once more and compare. With the files named after the runs:'),
    ...codeLines(lines, 'The commands for each run'),
    html('p', {}, 'Equal digests mean equal bits: on the same instruction set, kernel and BLAS a run ' +
      'gives the same digest with any number of threads. On another machine the last digits may differ.'));
  return made;
}
