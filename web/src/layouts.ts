// Where the agents of a network are drawn: in the unit square, each kind of graph as what it is.

export type Place = [number, number];
export interface Layout {
  places: Place[];
  /** The name of the drawing, for the reader. */
  shape: string;
  /** Links that would cross the whole drawing, such as those that close a torus: drawn as stubs. */
  wraps(a: number, b: number): boolean;
}

type Edges = [number, number][];
const never = (): boolean => false;

function onCircle(count: number, radius = 0.5): Place[] {
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    return [0.5 + radius * Math.cos(angle), 0.5 + radius * Math.sin(angle)];
  });
}

const circle = (count: number): Layout => ({ places: onCircle(count), shape: 'circle', wraps: never });

function star(count: number): Layout {
  return { places: [[0.5, 0.5], ...onCircle(count - 1)], shape: 'star', wraps: never };
}

/** A row of its own while the agents fit side by side; a longer path turns at the ends. */
function path(count: number): Layout {
  const columns = count <= 40 ? count : Math.ceil(Math.sqrt(count * 2));
  const rows = Math.ceil(count / columns);
  const places = Array.from({ length: count }, (_, i): Place => {
    const row = Math.floor(i / columns);
    const along = row % 2 === 0 ? i % columns : columns - 1 - (i % columns);
    return [columns > 1 ? along / (columns - 1) : 0.5, rows > 1 ? row / (rows - 1) : 0.5];
  });
  return { places, shape: 'line', wraps: never };
}

/** The columns of a grid or torus numbered row by row, found in its links; 0 if it is none. */
export function gridColumns(count: number, edges: Edges, closed: boolean): number {
  const linked = new Set(edges.map(([a, b]) => Math.min(a, b) * count + Math.max(a, b)));
  const has = (a: number, b: number): boolean => linked.has(Math.min(a, b) * count + Math.max(a, b));
  const fits = (columns: number): boolean => {
    if (count % columns !== 0) return false;
    const rows = count / columns;
    let links = 0;
    for (let i = 0; i < count; i += 1) {
      const [row, column] = [Math.floor(i / columns), i % columns];
      const right = column + 1 < columns ? i + 1 : closed && columns > 2 ? i - column : -1;
      const down = row + 1 < rows ? i + columns : closed && rows > 2 ? column : -1;
      for (const other of [right, down]) {
        if (other < 0) continue;
        if (!has(i, other)) return false;
        links += 1;
      }
    }
    return links === edges.length;
  };
  for (let columns = 1; columns <= count; columns += 1) if (fits(columns)) return columns;
  return 0;
}

function lattice(count: number, edges: Edges, closed: boolean): Layout | null {
  const columns = gridColumns(count, edges, closed);
  if (columns === 0) return null;
  const rows = count / columns;
  const step = 1 / Math.max(1, columns - 1, rows - 1);
  const places = Array.from({ length: count }, (_, i): Place =>
    [0.5 + ((i % columns) - (columns - 1) / 2) * step,
      0.5 + (Math.floor(i / columns) - (rows - 1) / 2) * step]);
  const wraps = (a: number, b: number): boolean => closed &&
    (Math.abs((a % columns) - (b % columns)) > 1 ||
      Math.abs(Math.floor(a / columns) - Math.floor(b / columns)) > 1);
  return { places, shape: closed ? 'torus' : 'grid', wraps };
}

/** Each bit moves by a vector of its own, shorter by half after every two bits and a little askew. */
function hypercube(count: number): Layout {
  const bits = Math.round(Math.log2(count));
  const places = Array.from({ length: count }, (_, i): Place => {
    let [x, y] = [0, 0];
    for (let k = 0; k < bits; k += 1) {
      if (((i >> k) & 1) === 0) continue;
      const length = 0.42 ** Math.floor(k / 2);
      const angle = (k % 2 === 0 ? 0 : Math.PI / 2) + Math.floor(k / 2) * 0.45;
      x += length * Math.cos(angle);
      y += length * Math.sin(angle);
    }
    return [x, y];
  });
  return { places: fitted(places), shape: 'hypercube', wraps: never };
}

/** Moves and scales the places into the unit square without bending the drawing. */
function fitted(places: Place[]): Place[] {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of places) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  const size = Math.max(right - left, bottom - top) || 1;
  return places.map(([x, y]) => [0.5 + (x - (left + right) / 2) / size, 0.5 + (y - (top + bottom) / 2) / size]);
}

export function neighbours(count: number, edges: Edges): number[][] {
  const all: number[][] = Array.from({ length: count }, () => []);
  for (const [a, b] of edges) {
    all[a]!.push(b);
    all[b]!.push(a);
  }
  return all;
}

function distancesFrom(start: number, links: number[][]): Int32Array {
  const steps = new Int32Array(links.length).fill(-1);
  const queue = [start];
  steps[start] = 0;
  for (let head = 0; head < queue.length; head += 1) {
    const at = queue[head]!;
    for (const next of links[at]!) {
      if (steps[next] !== -1) continue;
      steps[next] = steps[at]! + 1;
      queue.push(next);
    }
  }
  return steps;
}

/**
 * Places whose distances resemble the number of links between the agents: the two main directions of
 * the distances to a few far-apart agents (pivot MDS, Brandes and Pich 2006). Null if some agent
 * cannot be reached.
 */
export function byDistance(count: number, edges: Edges): Place[] | null {
  const links = neighbours(count, edges);
  const pivots: Float64Array[] = [];
  const nearest = new Float64Array(count).fill(Infinity);
  let next = 0;
  for (let p = 0; p < Math.min(24, count); p += 1) {
    const steps = distancesFrom(next, links);
    if (steps.includes(-1)) return null;
    pivots.push(Float64Array.from(steps, (d) => d * d));
    steps.forEach((d, i) => { nearest[i] = Math.min(nearest[i]!, d); });
    next = nearest.indexOf(nearest.reduce((a, b) => Math.max(a, b), 0));
  }
  centre(pivots, count);
  const first = mainDirection(pivots, null);
  const second = mainDirection(pivots, first);
  const along = (direction: number[], i: number): number =>
    pivots.reduce((sum, pivot, p) => sum + pivot[i]! * direction[p]!, 0);
  return fitted(Array.from({ length: count }, (_, i): Place => [along(first, i), along(second, i)]));
}

/** Takes the mean of each agent and of each pivot away. */
function centre(pivots: Float64Array[], count: number): void {
  const ofAgent = new Float64Array(count);
  for (const pivot of pivots) pivot.forEach((d, i) => { ofAgent[i] = ofAgent[i]! + d / pivots.length; });
  const mean = ofAgent.reduce((a, b) => a + b, 0) / count;
  for (const pivot of pivots) {
    const own = pivot.reduce((a, b) => a + b, 0) / count;
    pivot.forEach((d, i) => { pivot[i] = d - own - ofAgent[i]! + mean; });
  }
}

/** The main eigenvector of the pivots' products, orthogonal to `before`, by the power method. */
function mainDirection(pivots: Float64Array[], before: number[] | null): number[] {
  const products = pivots.map((a) => pivots.map((b) => a.reduce((sum, v, i) => sum + v * b[i]!, 0)));
  let direction = pivots.map((_, i) => 1 + 0.37 * Math.sin(3 * i + 1));
  for (let round = 0; round < 200; round += 1) {
    if (before) {
      const shared = before.reduce((sum, v, i) => sum + v * direction[i]!, 0);
      direction = direction.map((v, i) => v - shared * before[i]!);
    }
    direction = products.map((row) => row.reduce((sum, v, i) => sum + v * direction[i]!, 0));
    const length = Math.hypot(...direction) || 1;
    direction = direction.map((v) => v / length);
  }
  return direction;
}

function drawnByDistance(count: number, edges: Edges): Layout | null {
  const places = edges.length > 0 && edges.length <= 40 * count ? byDistance(count, edges) : null;
  return places && { places, shape: 'map by number of links', wraps: never };
}

/** A graph that is not what its kind says, or of which nothing else is known, becomes a circle. */
export function layoutOf(
  kind: string, count: number, edges: Edges, positions: Place[] | null,
): Layout {
  if (positions) return { places: fitted(positions), shape: 'map', wraps: never };
  const made: Record<string, () => Layout | null> = {
    path: () => path(count),
    star: () => star(count),
    grid: () => lattice(count, edges, false),
    torus: () => lattice(count, edges, true),
    hypercube: () => (2 ** Math.round(Math.log2(count)) === count ? hypercube(count) : null),
    geometric: () => drawnByDistance(count, edges),
    file: () => drawnByDistance(count, edges),
    edges: () => drawnByDistance(count, edges),
  };
  return (count > 1 ? made[kind]?.() : null) ?? circle(count);
}
