// Decides when panels draw: those on the screen in the next frame, the others one after another when
// the page is idle, so that a zoom of all panels costs no more than what can be seen.

export interface Painted { readonly element: HTMLElement; paint(): void }

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

  request(panel: Painted): void {
    this.dirty.add(panel);
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
    for (const panel of now) {
      this.dirty.delete(panel);
      panel.paint();
    }
    if (this.dirty.size > 0) this.schedule();
    else this.busy(false);
  }
}
