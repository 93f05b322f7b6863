// Decides when panels draw: those on the screen in the next frame, the others one after another when
// the page is idle, so that a zoom of all panels costs no more than what can be seen.

// What one frame may draw. Segments count besides the time, because the browser fills in the pixels
// after the script has ended.
const mostTime = 10;  // milliseconds
const mostSegments = 30_000;

/** `paint` says how many segments of lines it drew. */
export interface Painted { readonly element: HTMLElement; paint(): number }

export class Painter {
  private readonly dirty = new Set<Painted>();
  private readonly onScreen = new Set<Element>();
  private frame = 0;
  private readonly observer: IntersectionObserver;

  /** `busy` is told whether something is still to be drawn. */
  constructor(private readonly busy: (is: boolean) => void) {
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) this.onScreen.add(entry.target);
        else this.onScreen.delete(entry.target);
      }
      this.schedule();
    }, { rootMargin: '120px' });
  }

  watch(panel: Painted): void {
    this.observer.observe(panel.element);
  }

  isSeen(panel: Painted): boolean {
    return this.onScreen.has(panel.element);
  }

  /** The panel under the reader's hand is drawn `first`. */
  request(panel: Painted, first = false): void {
    if (first) {
      const others = [...this.dirty].filter((other) => other !== panel);
      this.dirty.clear();
      for (const one of [panel, ...others]) this.dirty.add(one);
    } else this.dirty.add(panel);
    this.busy(true);
    this.schedule();
  }

  private schedule(): void {
    if (this.frame === 0 && this.dirty.size > 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.frame = 0;
    const seen = [...this.dirty].filter((panel) => this.onScreen.has(panel.element));
    // A panel out of sight may wait: at most one in a frame, and only if nothing else is drawn.
    const now = seen.length > 0 ? seen : [...this.dirty].slice(0, 1);
    const start = performance.now();
    let segments = 0;
    for (const panel of now) {
      this.dirty.delete(panel);
      segments += panel.paint();
      // The others take the next frames: a gesture goes on meanwhile.
      if (performance.now() - start > mostTime || segments > mostSegments) break;
    }
    if (this.dirty.size > 0) this.schedule();
    else this.busy(false);
  }
}
