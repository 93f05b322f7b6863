// One panel: a title, the drawing, its x axis in words, the readout, and the keyboard.

import type { Range } from './curves';
import { stepAlong } from './curves';
import type { Run } from './data';
import { html } from './dom';
import type { VisibleRuns } from './legend';
import { Plot } from './plot';
import type { View } from './plot';
import { Readout } from './readout';
import type { Reading } from './readout';
import { capital, short, wordsOf } from './words';

export class Panel {
  readonly element: HTMLElement;
  private readonly stage: HTMLElement;
  private readonly xWords = html('p', { class: 'x-words' });
  private readonly empty = html('p', { class: 'empty', hidden: true });
  private readonly reset: HTMLButtonElement;
  private readonly readout: Readout;
  private plot: Plot | null = null;
  private view: View;
  private followed = 0;
  private at: number | null = null;

  constructor(
    private readonly runs: Run[], private readonly visible: VisibleRuns, view: View, side: string,
    private readonly announce: (words: string) => void,
  ) {
    this.view = view;
    this.readout = new Readout(runs, wordsOf(view.yColumn));
    this.reset = html('button', { type: 'button', class: 'small reset', hidden: true,
      click: () => { this.resetZoom(); this.stage.focus(); } }, 'Reset zoom');
    this.stage = html('div', { class: 'stage', tabindex: 0, role: 'application',
      'aria-roledescription': 'plot' });
    this.stage.addEventListener('keydown', (event) => this.onKey(event));
    this.stage.addEventListener('blur', () => this.hideCursor());
    this.element = html('figure', { class: `panel ${side}`, 'data-metric': view.yColumn },
      html('figcaption', {}, html('h3', {}, capital(wordsOf(view.yColumn))), this.reset),
      html('div', { class: 'frame' }, this.stage, this.empty, this.readout.element),
      this.xWords);
    visible.onChange(() => { this.plot?.setVisible(visible.shown); this.noteEmpty(); });
  }

  /** Draws with another x axis. The element must be in the page already: its size is used. */
  setX(xColumn: string, logX: boolean): void {
    this.view = { ...this.view, xColumn, logX };
    this.plot?.destroy();
    this.hideCursor();
    this.plot = new Plot(this.stage, this.runs, this.view, this.visible.shown, {
      onCursor: (readings, near) => this.onCursor(readings, near),
      onRange: (x, y, zoomed) => this.onRange(x, y, zoomed),
    });
    const words = wordsOf(xColumn);
    this.xWords.textContent = words;
    this.readout.setXWords(words.split(',')[0]!);
    Object.assign(this.element.dataset, { x: xColumn, logX: String(logX), logY: String(this.view.logY) });
    this.stage.setAttribute('aria-label', `${wordsOf(this.view.yColumn)} against ${words}. ` +
      'Left and right arrows step through the points of a run, up and down choose the run, ' +
      'plus and minus zoom, 0 resets.');
    this.noteEmpty();
  }

  resize(): void {
    this.plot?.resize(this.stage.clientWidth, this.stage.clientHeight);
  }

  redraw(): void {
    this.plot?.redraw();
  }

  resetZoom(): void {
    this.plot?.resetZoom();
  }

  hideCursor(): void {
    this.at = null;
    this.plot?.clearCursor();
    this.readout.hide();
  }

  private noteEmpty(): void {
    const none = !this.visible.shown.some(Boolean);
    this.empty.hidden = !none && (this.plot?.hasPoints ?? false);
    this.empty.textContent = none ? 'No run is shown.' : 'No run has values to show here.';
  }

  private onRange(x: Range, y: Range, zoomed: boolean): void {
    this.reset.hidden = !zoomed;
    Object.assign(this.element.dataset, { xMin: String(x[0]), xMax: String(x[1]), yMin: String(y[0]),
      yMax: String(y[1]), zoomed: String(zoomed) });
  }

  private onCursor(readings: Reading[] | null, near: number | null): void {
    if (readings === null) {
      this.readout.hide();
      return;
    }
    this.readout.show(readings, this.at === null ? near : this.followed);
  }

  private candidates(): number[] {
    return this.runs.map((_, i) => i)
      .filter((i) => this.visible.shown[i] && (this.plot?.points[i]?.length ?? 0) > 0);
  }

  private follow(step: number, along: number): void {
    const runs = this.candidates();
    if (this.plot === null || runs.length === 0) return;
    const place = Math.max(0, runs.indexOf(this.followed));
    this.followed = runs[(place + step + runs.length) % runs.length]!;
    const point = stepAlong(this.plot.points[this.followed]!, this.at, along);
    if (point === null) return;
    this.at = point.x;
    this.plot.point(point);
    this.announce(`${this.runs[this.followed]!.label}: ${short(point.x, 5)} ` +
      `${wordsOf(this.view.xColumn)}, ${wordsOf(this.view.yColumn)} ${short(point.y, 5)}`);
  }

  /** The cursor stays on its point while the frame changes around it. */
  private zoomBy(factor: number): void {
    this.plot?.zoomBy(factor);
    if (this.at !== null) this.follow(0, 0);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.follow(0, -1),
      ArrowRight: () => this.follow(0, 1),
      ArrowUp: () => this.follow(-1, 0),
      ArrowDown: () => this.follow(1, 0),
      Home: () => this.follow(0, -Infinity),
      End: () => this.follow(0, Infinity),
      '+': () => this.zoomBy(0.5),
      '=': () => this.zoomBy(0.5),
      '-': () => this.zoomBy(2),
      '0': () => this.resetZoom(),
      Escape: () => this.hideCursor(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}
