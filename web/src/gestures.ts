// The wheel and two fingers over a plot.

export interface Zoomable {
  /** Zooms about a place in the frame, from 0 (left) to 1; a factor below 1 zooms in. */
  zoomAbout(share: number, factor: number): void;
  /** Moves the window by a share of its width. */
  pan(share: number): void;
}

/**
 * The wheel alone scrolls the page, or nobody could get past the panels. It zooms a panel that has
 * the focus (a click gives it), and any panel with Ctrl, which is also how browsers report a pinch on
 * a touch pad.
 */
export function onWheel(stage: HTMLElement, over: HTMLElement, target: Zoomable): void {
  over.addEventListener('wheel', (event) => {
    const focused = stage.contains(document.activeElement);
    if (!event.ctrlKey && !event.metaKey && !focused) return;
    event.preventDefault();
    const box = over.getBoundingClientRect();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : 30;
    const [dx, dy] = event.shiftKey ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
    if (Math.abs(dx) > Math.abs(dy)) target.pan((dx * lines) / box.width);
    else {
      const speed = event.ctrlKey && Math.abs(dy) < 50 ? 0.01 : 0.002;
      const factor = Math.exp(Math.min(200, Math.max(-200, dy * lines)) * speed);
      target.zoomAbout((event.clientX - box.left) / box.width, factor);
    }
  }, { passive: false });
}

/** Two fingers zoom and move; one finger scrolls the page and reads values, as before. */
export function onPinch(over: HTMLElement, target: Zoomable): void {
  let before: { middle: number; apart: number } | null = null;
  const fingers = (event: TouchEvent): { middle: number; apart: number } | null => {
    const [a, b] = [event.touches[0], event.touches[1]];
    if (!a || !b) return null;
    const box = over.getBoundingClientRect();
    return { middle: ((a.clientX + b.clientX) / 2 - box.left) / box.width,
      apart: Math.max(12, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)) };
  };
  over.addEventListener('touchstart', (event) => {
    before = fingers(event);
    if (before) event.preventDefault();
  }, { passive: false });
  over.addEventListener('touchmove', (event) => {
    const now = fingers(event);
    if (!now || !before) return;
    event.preventDefault();
    target.pan(before.middle - now.middle);
    target.zoomAbout(now.middle, before.apart / now.apart);
    before = now;
  }, { passive: false });
  over.addEventListener('touchend', (event) => { before = fingers(event); });
}
