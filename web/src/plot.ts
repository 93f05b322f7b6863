// One drawing of uPlot: axes, frame, cursor and selection. The curves are drawn by the panel, whose
// runs log at x values of their own: uPlot wants one x column for all, which would have as many rows
// as all runs together.

import uPlot from 'uplot';
import type { Range } from './curves';
import { placeOf, valueOf } from './frame';
import type { Frame } from './frame';
import { themeColor } from './theme';
import { linearTicks, logTicks, tickLabels } from './ticks';

export interface PlotOwner {
  /** Draws in CSS pixels, clipped to the frame. */
  draw(context: CanvasRenderingContext2D, frame: Frame): void;
  /** The cursor in pixels of the plot; null: it left. */
  onCursor(at: { left: number; top: number } | null): void;
  /** A dragged window, on the axes; null: the whole height or width. */
  onSelect(x: Range | null, y: Range | null): void;
}

const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export class Plot {
  readonly over: HTMLElement;
  /** Lies over the curves: what changes with the cursor is drawn here, and the curves stay. */
  private readonly top = document.createElement('canvas');
  private readonly chart: uPlot;
  private x: Range = [0, 1];
  private y: Range = [0, 1];

  constructor(
    parent: HTMLElement, private readonly logX: boolean, private readonly logY: boolean,
    private readonly owner: PlotOwner,
  ) {
    // The data of one hidden series: uPlot wants some.
    this.chart = new uPlot(this.options(parent), [[1, 2], [null, null]], parent);
    this.over = this.chart.over;
    this.top.className = 'top';
    this.over.append(this.top);
  }

  destroy(): void {
    this.chart.destroy();
  }

  resize(width: number, height: number): boolean {
    if (width === this.chart.width && height === this.chart.height) return false;
    this.chart.setSize({ width, height });
    return true;
  }

  /** Draws anew, with these ranges on the axes. */
  draw(x: Range, y: Range): void {
    [this.x, this.y] = [x, y];
    this.chart.batch(() => {
      this.chart.setScale('x', this.values(x, this.logX));
      this.chart.setScale('y', this.values(y, this.logY));
    });
  }

  /** In CSS pixels of the whole drawing. */
  frame(): Frame {
    const { bbox } = this.chart;
    const ratio = uPlot.pxRatio;
    return { x: this.x, y: this.y, logX: this.logX, logY: this.logY, left: bbox.left / ratio,
      top: bbox.top / ratio, width: bbox.width / ratio, height: bbox.height / ratio };
  }

  point(left: number, top: number): void {
    this.chart.setCursor({ left, top });
  }

  clearCursor(): void {
    this.chart.setCursor({ left: -10, top: -10 });
  }

  /** Empties the upper canvas and draws there, with (0, 0) at the frame's corner. */
  drawTop(draw: (context: CanvasRenderingContext2D) => void): void {
    const ratio = uPlot.pxRatio;
    const { width, height } = this.frame();
    const size = [Math.round(width * ratio), Math.round(height * ratio)] as const;
    const context = this.top.getContext('2d');
    if (context === null) return;
    if (this.top.width !== size[0] || this.top.height !== size[1]) {
      [this.top.width, this.top.height] = size;
      Object.assign(this.top.style, { width: `${width}px`, height: `${height}px` });
    } else {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, ...size);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(context);
  }

  private values([min, max]: Range, log: boolean): { min: number; max: number } {
    return { min: valueOf(min, log), max: valueOf(max, log) };
  }

  private readonly onDraw = (chart: uPlot): void => {
    const frame = this.frame();
    const context = chart.ctx;
    context.save();
    context.scale(uPlot.pxRatio, uPlot.pxRatio);
    context.beginPath();
    context.rect(frame.left, frame.top, frame.width, frame.height);
    context.clip();
    this.owner.draw(context, frame);
    context.restore();
  };

  private readonly onSelect = (chart: uPlot): void => {
    const { left, top, width, height } = chart.select;
    if (width < 3 && height < 3) return;
    const at = (pixel: number, scale: 'x' | 'y'): number =>
      placeOf(chart.posToVal(pixel, scale), scale === 'x' ? this.logX : this.logY);
    const wide = width >= chart.over.clientWidth - 1;
    // A drag along x alone selects the full height: y then follows the data in the window.
    const high = height >= chart.over.clientHeight - 1;
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.owner.onSelect(wide ? null : [at(left, 'x'), at(left + width, 'x')],
      high ? null : [at(top + height, 'y'), at(top, 'y')]);
  };

  private axis(log: boolean, across: boolean): uPlot.Axis {
    const spacing = across ? 52 : 30;
    return {
      font,
      stroke: () => themeColor('ink-soft'),
      grid: { stroke: () => themeColor('grid'), width: 1 },
      ticks: { show: false },
      gap: 6,
      size: across ? 24 : 62,
      splits: (chart, _axis, min, max) => {
        const length = (across ? chart.bbox.width : chart.bbox.height) / uPlot.pxRatio;
        const most = Math.max(2, Math.floor(length / spacing));
        return log ? logTicks(min, max, most) : linearTicks(min, max, most);
      },
      filter: (_chart, splits) => splits,
      values: (_chart, splits) => tickLabels(splits),
    };
  }

  private options(parent: HTMLElement): uPlot.Options {
    const range = (kind: 'x' | 'y', log: boolean) => (): [number, number] => {
      const { min, max } = this.values(this[kind], log);
      return [min, max];
    };
    return {
      width: Math.max(200, parent.clientWidth),
      height: Math.max(160, parent.clientHeight),
      padding: [8, 12, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, distr: this.logX ? 3 : 1, range: range('x', this.logX) },
        y: { distr: this.logY ? 3 : 1, range: range('y', this.logY) },
      },
      axes: [this.axis(this.logX, true), this.axis(this.logY, false)],
      series: [{}, { show: false }],
      cursor: { drag: { x: true, y: true, uni: 24, setScale: false }, bind: { dblclick: () => null } },
      hooks: {
        draw: [this.onDraw],
        setSelect: [this.onSelect],
        setCursor: [(chart) => {
          const { left, top } = chart.cursor;
          const inside = left !== undefined && top !== undefined && left >= 0;
          this.owner.onCursor(inside ? { left, top } : null);
        }],
      },
    };
  }
}
