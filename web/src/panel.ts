// One panel: its metric and axes to choose, the drawing, the readout, and the keyboard.

import { curveOf, hasPoints, nearestRow, stepAlong, xExtent, yExtent } from './curves';
import type { Curve, Range } from './curves';
import { html, select } from './dom';
import { exportButtons } from './export';
import { toX, toY } from './frame';
import type { Frame } from './frame';
import { onPinch, onWheel } from './gestures';
import { colorOf } from './marks';
import { drawDots, drawHighlight, drawLayers, segmentsOf } from './paint';
import type { Painter } from './painter';
import { Plot } from './plot';
import { Readout } from './readout';
import type { Reading } from './readout';
import { layerOf, sceneOf } from './scene';
import { defaultLog } from './store';
import type { PanelView, Store } from './store';
import { isDark } from './theme';
import type { Trace } from './traces';
import { capital, short, wordsOf } from './words';

export class Panel {
  readonly element: HTMLElement;
  private readonly stage = html('div', { class: 'stage', tabindex: 0, role: 'application',
    'aria-roledescription': 'plot' });
  private readonly empty = html('p', { class: 'empty', hidden: true });
  private readonly choices = html('div', { class: 'axes' });
  private readonly title = html('h3');
  private readonly reset: HTMLButtonElement;
  private readonly readout = new Readout();
  private plot: Plot | null = null;
  /** Made again when they are next drawn. */
  private curves_: Curve[] | null = null;
  private drawn = '';
  private segments = 0;
  private followed = 0;
  /** The x that the keyboard stands on. */
  private at: number | null = null;
  private readings: Reading[] = [];

  constructor(
    private readonly store: Store, readonly number: number, side: string,
    private readonly painter: Painter, private readonly announce: (words: string) => void,
  ) {
    this.reset = html('button', { type: 'button', class: 'small reset', hidden: true,
      click: () => { this.resetZoom(); this.stage.focus(); } }, 'Reset zoom');
    this.stage.addEventListener('keydown', (event) => this.onKey(event));
    this.stage.addEventListener('blur', () => this.hideCursor());
    this.element = html('figure', { class: `panel ${side}` },
      html('figcaption', {}, this.title, this.reset, exportButtons(this)),
      html('div', { class: 'frame' }, this.stage, this.empty, this.readout.element), this.choices);
    painter.watch(this);
  }

  get view(): PanelView { return this.store.views[this.number]!; }
  get traces(): Trace[] { return this.store.traces; }
  get visible(): boolean[] { return this.traces.map((trace) => this.store.isShown(trace)); }
  get reach(): number { return this.store.smoothing; }

  get curves(): Curve[] {
    const { x, y, logX, logY } = this.view;
    this.curves_ ??= this.traces.map((trace) =>
      curveOf(trace.cells(x, y), logX, logY, this.store.smoothing));
    return this.curves_;
  }

  /** Other axes, other traces or other smoothing. */
  viewChanged(): void {
    const { x, y, logX, logY } = this.view;
    const now = [x, y, logX, logY].join();
    if (now !== this.drawn) {
      this.drawn = now;
      this.makePlot();
      this.showChoices();
    }
    this.readout.setTraces(this.traces, wordsOf(x).split(',')[0]!, wordsOf(y));
    this.followed = Math.min(this.followed, this.traces.length - 1);
    this.dataChanged();
  }

  /** Rows were added: the cursor stays where it is. */
  dataChanged(): void {
    this.curves_ = null;
    this.painter.request(this);
  }

  rangeChanged(): void {
    this.painter.request(this);
  }

  resize(): void {
    if (this.plot?.resize(this.stage.clientWidth, this.stage.clientHeight)) this.painter.request(this);
  }

  paint(): number {
    const [x, y] = [this.xRange(), this.yRange()];
    this.plot?.draw(x, y);
    const zoomed = this.zoomed;
    const values = (range: Range, log: boolean): string[] =>
      range.map((at) => String(log ? 10 ** at : at));
    const [xMin, xMax] = values(x, this.view.logX) as [string, string];
    const [yMin, yMax] = values(y, this.view.logY) as [string, string];
    this.reset.hidden = !zoomed;
    Object.assign(this.element.dataset, { metric: this.view.y, x: this.view.x,
      logX: String(this.view.logX), logY: String(this.view.logY), xMin, xMax, yMin, yMax,
      zoomed: String(zoomed) });
    const none = !this.visible.some(Boolean);
    this.empty.hidden = !none && this.curves.some(hasPoints);
    this.empty.textContent = none ? 'No run is shown.' : 'No run has values to show here.';
    this.drawTop();
    return this.segments;
  }

  resetZoom(): void {
    this.store.zoom(this.view, null, null);
  }

  hideCursor(): void {
    this.at = null;
    this.readings = [];
    this.plot?.clearCursor();
    this.readout.hide();
  }

  /** The highlighted trace and the dots of the readout, over curves that stay as they are. */
  drawTop(): void {
    if (this.painter.isSeen(this)) this.plot?.drawTop((context) => {
      const frame = this.frame();
      const trace = this.store.highlighted;
      if (trace !== null && this.curves[trace]) {
        const layer = layerOf(frame, this.curves[trace]!, trace, false);
        drawHighlight(context, layer.line, this.traces[trace]!, isDark());
      }
      drawDots(context, this.readings.map(({ trace: t, x }) => {
        const curve = this.curves[t]!;
        const row = nearestRow(curve, this.view.logX ? Math.log10(x) : x);
        return { x: toX(frame, curve.at.x[row]!), y: toY(frame, curve.at.y[row]!),
          color: colorOf(this.traces[t]!, isDark()) };
      }));
    });
  }

  private get zoomed(): boolean {
    return this.store.window('x', this.view) !== null || this.store.window('y', this.view) !== null;
  }

  /** Of the upper canvas, whose corner is the frame's. */
  private frame(): Frame {
    return { ...this.plot!.frame(), left: 0, top: 0 };
  }

  xRange(): Range {
    return this.store.window('x', this.view) ?? xExtent(this.curves, this.view.logX);
  }

  yRange(): Range {
    return this.store.window('y', this.view) ?? yExtent(this.curves, this.visible,
      this.traces.map((trace) => trace.blewUp), this.xRange(), this.view.logY);
  }

  zoomAbout(share: number, factor: number): void {
    const [low, high] = this.xRange();
    const centre = low + share * (high - low);
    this.window([centre - (centre - low) * factor, centre + (high - centre) * factor]);
  }

  pan(share: number): void {
    const [low, high] = this.xRange();
    const [fullLow, fullHigh] = xExtent(this.curves, this.view.logX);
    const by = share * (high - low);
    const limited = Math.min(fullHigh - high, Math.max(fullLow - low, by));
    this.window([low + limited, high + limited]);
  }

  private window([low, high]: Range): void {
    const [fullLow, fullHigh] = xExtent(this.curves, this.view.logX);
    const x: Range = [Math.max(fullLow, low), Math.min(fullHigh, high)];
    if (x[1] - x[0] < 1e-6 * (fullHigh - fullLow)) return;
    const whole = x[0] <= fullLow && x[1] >= fullHigh;
    this.painter.request(this, true);
    this.store.zoom(this.view, whole ? null : x, this.store.window('y', this.view));
  }

  private makePlot(): void {
    this.plot?.destroy();
    this.hideCursor();
    this.plot = new Plot(this.stage, this.view.logX, this.view.logY, {
      draw: (context, frame) => {
        const layers = sceneOf(frame, this.curves, this.visible);
        this.segments = segmentsOf(layers);
        drawLayers(context, layers, this.traces, isDark());
      },
      onCursor: (at) => this.onCursor(at),
      onSelect: (x, y) => this.store.zoom(this.view, x ?? this.store.window('x', this.view), y),
    });
    this.plot.over.addEventListener('mousemove', () => { this.at = null; }, true);
    this.plot.over.addEventListener('dblclick', () => this.resetZoom());
    onWheel(this.stage, this.plot.over, this);
    onPinch(this.plot.over, this);
    this.stage.setAttribute('aria-label', `${wordsOf(this.view.y)} against ${wordsOf(this.view.x)}. ` +
      'Left and right arrows step through the points of a run, up and down choose the run, ' +
      'plus and minus zoom, shift with an arrow moves the window, 0 resets.');
  }

  private showChoices(): void {
    const { x, y, logX, logY } = this.view;
    const id = `panel-${this.number}`;
    const change = (part: Partial<PanelView>): void => this.store.setView([this.number], part);
    const choice = (names: string[], now: string): { value: string; text: string }[] =>
      [...new Set([now, ...names])].sort((a, b) => names.indexOf(a) - names.indexOf(b))
        .map((value) => ({ value, text: capital(wordsOf(value)) }));
    const metric = select(`${id}-y`, choice(this.store.metrics(), y), y,
      (value) => change({ y: value, logY: defaultLog(value) }));
    metric.setAttribute('aria-label', `Metric of panel ${this.number + 1}`);
    const axis = select(`${id}-x`, choice(this.store.xChoices(), x), x, (value) => change({ x: value }));
    axis.setAttribute('aria-label', `X axis of panel ${this.number + 1}`);
    const log = (which: 'logX' | 'logY', on: boolean, words: string): HTMLElement =>
      html('button', { type: 'button', class: 'small log', 'data-log': which, 'aria-pressed': String(on),
        'aria-label': `Logarithmic ${words} axis of panel ${this.number + 1}`,
        click: () => change({ [which]: !on }) }, `log ${words}`);
    const focused = document.activeElement;
    const held = focused instanceof HTMLElement && this.element.contains(focused)
      ? focused.id || focused.dataset['log'] : undefined;
    this.title.replaceChildren(metric);
    this.choices.replaceChildren(log('logY', logY, 'y'), axis, log('logX', logX, 'x'));
    // The control that made the change was made anew: it keeps the focus.
    if (held) this.element.querySelector<HTMLElement>(`#${held}, [data-log=${held}]`)?.focus();
  }

  private onCursor(at: { left: number; top: number } | null): void {
    if (at === null || this.plot === null) {
      this.readings = [];
      this.readout.hide();
      this.store.highlight(null);
      this.drawTop();
      return;
    }
    const frame = this.frame();
    const [low, high] = frame.x;
    const { logX } = this.view;
    const x = this.at === null ? low + (at.left / frame.width) * (high - low)
      : logX ? Math.log10(this.at) : this.at;
    const readings: Reading[] = [];
    let near: number | null = null;
    let closest = Infinity;
    this.visible.forEach((shown, trace) => {
      const curve = this.curves[trace]!;
      const row = shown ? nearestRow(curve, x) : -1;
      if (row < 0) return;
      const [px, py] = [toX(frame, curve.at.x[row]!), toY(frame, curve.at.y[row]!)];
      const reading: Reading = { trace, x: curve.x[row]!, y: curve.y[row]!, away: Math.abs(py - at.top) };
      const bounds = this.traces[trace]!.grouped ? [curve.at.low?.[row], curve.at.high?.[row]] : [];
      if (bounds[0] !== undefined && bounds[1] !== undefined) {
        [reading.low, reading.high] = bounds.map((b) => (this.view.logY ? 10 ** b! : b!)) as Range;
      }
      readings.push(reading);
      const away = Math.hypot(px - at.left, py - at.top);
      if (away < closest) [closest, near] = [away, trace];
    });
    const chosen = this.at === null ? near : this.followed;
    this.readout.show(readings, chosen);
    const dotted = [...readings].sort((a, b) => a.away - b.away).slice(0, 10);
    this.readings = dotted;
    this.store.highlight(chosen);
    this.drawTop();
  }

  private follow(step: number, along: number): void {
    const visible = this.visible;
    const candidates = this.curves.map((_, i) => i).filter((i) => visible[i] && hasPoints(this.curves[i]!));
    if (this.plot === null || candidates.length === 0) return;
    const place = Math.max(0, candidates.indexOf(this.followed));
    this.followed = candidates[(place + step + candidates.length) % candidates.length]!;
    const curve = this.curves[this.followed]!;
    const row = stepAlong(curve, this.at, along);
    if (row < 0) return;
    this.at = curve.x[row]!;
    const frame = this.frame();
    this.plot.point(toX(frame, curve.at.x[row]!), toY(frame, curve.at.y[row]!));
    this.announce(`${this.traces[this.followed]!.label}: ${short(this.at, 5)} ` +
      `${wordsOf(this.view.x)}, ${wordsOf(this.view.y)} ${short(curve.y[row], 5)}`);
  }

  /** The cursor stays on its point while the frame changes around it. */
  private zoomBy(factor: number): void {
    const [low, high] = this.xRange();
    const at = this.at === null ? NaN : this.view.logX ? Math.log10(this.at) : this.at;
    this.zoomAbout(Number.isNaN(at) ? 0.5 : (at - low) / (high - low), factor);
    if (this.at !== null) {
      this.paint();
      this.follow(0, 0);
    }
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => (event.shiftKey ? this.pan(-0.2) : this.follow(0, -1)),
      ArrowRight: () => (event.shiftKey ? this.pan(0.2) : this.follow(0, 1)),
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
