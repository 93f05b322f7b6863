// The positions and labels of an axis' ticks. uPlot's own logarithmic ticks leave a zoomed
// axis of less than a decade without any label, so both kinds are made here.

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function power(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((d) => superscripts[Number(d)]).join('');
  return `10${exponent < 0 ? '⁻' : ''}${digits}`;
}

/** The nice step (1, 2 or 5 times a power of ten) that makes at most `most` intervals. */
function niceStep(width: number, most: number): number {
  const raw = width / Math.max(1, most);
  const decade = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((f) => f * decade >= raw * (1 - 1e-9)) ?? 10;
  return factor * decade;
}

export function linearTicks(min: number, max: number, most: number): number[] {
  if (!(max > min)) return [min];
  const step = niceStep(max - min, most);
  const ticks: number[] = [];
  // Multiples counted in whole numbers: adding the step up would drift.
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  for (let k = first; k <= last; k += 1) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

// A log axis cannot show a tick at zero.
const positive = (ticks: number[]): number[] => ticks.filter((t) => t > 0);

/** Decades, with 2 and 5 or 3 between them where there is room; linear steps below a decade. */
export function logTicks(min: number, max: number, most: number): number[] {
  const low = Math.log10(min);
  const high = Math.log10(max);
  if (high - low < 0.9) return positive(linearTicks(min, max, most));
  const decades = high - low;
  const factors = [[1, 2, 5], [1, 3]].find((f) => f.length * decades <= most) ?? [1];
  const stride = Math.max(1, Math.ceil(decades / Math.max(1, most)));
  const ticks: number[] = [];
  for (let e = Math.floor(low); e <= Math.ceil(high); e += 1) {
    if (e % stride !== 0) continue;
    for (const factor of factors) {
      const tick = Number(`${factor}e${e}`);
      if (tick >= min * (1 - 1e-12) && tick <= max * (1 + 1e-12)) ticks.push(tick);
    }
  }
  return ticks.length >= 2 ? ticks : positive(linearTicks(min, max, most));
}

/** One label: plain between 0.001 and 99999, otherwise a power of ten with its factor. */
export function tickLabel(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(6)));
  const [mantissa, exponent] = value.toExponential(4).split('e') as [string, string];
  const factor = Number(mantissa);
  if (factor === 1) return power(Number(exponent));
  return `${factor}·${power(Number(exponent))}`;
}

/** Labels of one axis in one notation: if a power of ten is needed anywhere, decades all have it. */
export function tickLabels(ticks: number[]): string[] {
  const decades = ticks.length > 2 && ticks.every((t) => t > 0 && Number.isInteger(
    Math.round(Math.log10(t) * 1e9) / 1e9));
  const wide = ticks.some((t) => t !== 0 && (Math.abs(t) < 1e-3 || Math.abs(t) >= 1e5));
  if (decades && wide) return ticks.map((t) => power(Math.round(Math.log10(t))));
  return ticks.map(tickLabel);
}
