// A plausible report: seven methods with two codecs (one of them uncompressed, so thirteen runs),
// one of them diverged. All numbers come from a fixed generator, so two calls give the same object.

export const columns = ['iteration', 'bits_paper', 'bits_payload', 'bits_link', 'loss_max',
  'grad_norm2_max', 'consensus', 'accuracy_min', 'loss_mean', 'grad_norm2_mean', 'accuracy_mean',
  'surrogate_error', 'dual_sum', 'seconds'];
const titles = ['iterations', "bits sent per agent, the paper's count",
  'bits sent per agent, as encoded', 'bits sent per agent, over all links',
  'training loss, worst agent', 'squared gradient norm, worst agent', 'consensus error',
  'test accuracy, worst agent', 'training loss of the average model',
  'squared gradient norm of the average model', 'test accuracy of the average model',
  'surrogate error', "norm of the duals' sum", 'seconds'];

const dimension = 79510;
const agents = 10;

// [label, algorithm, decay of the loss per sqrt(round), floor of the consensus error]
const methods = [
  ['TiCoPD', 'ticopd', 0.075, 1e-7], ['CP-SGD', 'cp_sgd', 0.066, 4e-6],
  ['CHOCO-SGD', 'choco_sgd', 0.05, 3e-3], ['DEF-ATC', 'def_atc', 0.054, 2e-3],
  ['BEER', 'beer', 0.06, 6e-6], ['DGD quantized', 'dgd_quantized', 0.03, 0.4],
];

/** A small linear congruential generator: the sample must not change from run to run. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function logRounds(iterations, points) {
  const rounds = new Set([0, 1, 2, 3]);
  for (let i = 0; i <= points; i += 1) rounds.add(Math.round(iterations ** (i / points)));
  return [...rounds].sort((a, b) => a - b);
}

// NaN and infinities as the program writes them.
const asCell = (v) => (Number.isNaN(v) ? 'nan' : Number.isFinite(v) ? v : v > 0 ? 'inf' : '-inf');

function metricsOf(method, rate, iterations, points, diverges, accuracy, random) {
  const [, , decay, floor] = method;
  const rows = logRounds(iterations, points).map((k) => {
    const noise = 1 + 0.06 * (random() - 0.5);
    const blow = diverges && k > 40 ? 10 ** ((k - 40) / 9) : 1;
    const loss = (0.18 + 2.15 * Math.exp(-decay * Math.sqrt(k))) * noise * blow;
    const gradient = (1e-4 + 0.25 * Math.exp(-2.4 * decay * Math.sqrt(k))) * noise ** 4 * blow;
    const consensus = k === 0 ? 0 : (floor + 90 * k ** -1.9) * noise ** 8 * blow;
    const right = Math.min(0.97, 0.098 + 0.86 * (1 - Math.exp(-decay * 0.9 * Math.sqrt(k)))) * (2 - noise);
    return [k, k * dimension * (rate - 0.0057), k * dimension * rate, 2 * k * dimension * rate,
      k > 230 && diverges ? NaN : k > 180 && diverges ? Infinity : loss, gradient, consensus,
      accuracy ? Math.max(0.0892, right / (blow > 1 ? 4 : 1)) : null, loss * 0.8, gradient * 0.7,
      accuracy ? right * 1.01 : null, k === 0 ? 0 : gradient * 3, 1e-8 * random(),
      Math.round(1000 * (0.19 + 0.0871 * k)) / 1000].map((v) => (v === null ? null : asCell(v)));
  });
  return columns.map((_, c) => rows.map((row) => row[c]));
}

function toml(label, algorithm, bits) {
  return `name = "${label}"\nseed = 1\niterations = 1400\nprecision = "float"\n\n[problem]\n` +
    'objective = "mlp"\nhidden = [100]\nactivation = "sigmoid"\ndata = "mnist"\npartition = "label"\n\n' +
    `[graph]\nkind = "ring"\nagents = ${agents}\nweights = "metropolis"\n\n[codec]\n` +
    (bits ? `kind = "qsgd"\nbits = ${bits}\n` : 'kind = "identity"\n') +
    `\n[algorithm]\nname = "${algorithm}"\nalpha = 0.3 # <step size> & more\n`;
}

function lastOf(random, iterations, accuracy) {
  const each = (make) => Array.from({ length: agents }, (_, i) => make(i));
  const last = { iteration: iterations, loss: each(() => 0.2 + 0.1 * random()),
    grad_norm2: each(() => 10 ** (-4 + 3 * random())), distance2: each(() => 1e-6 * random()) };
  if (accuracy) last.accuracy = each(() => 0.9 + 0.05 * random());
  last.payload_bytes = each((i) => 125232800 + 8 * i);
  return last;
}

function runOf(method, bits, index, codecIndex, accuracy) {
  const random = generator(7 + index);
  const [name, algorithm] = method;
  const label = bits ? `${name} ${bits}-bit` : name;
  const rate = bits ? bits + 1.0004 : 32;
  const diverges = algorithm === 'dgd_quantized' && bits === 4;
  const iterations = diverges ? 260 : index === 3 ? 700 : 1400;
  const metrics = metricsOf(method, rate, iterations, 44 + index, diverges, accuracy, random);
  const hit = accuracy ? metrics[7].findIndex((v) => typeof v === 'number' && v >= 0.8) : -1;
  const at = (name2) => metrics[columns.indexOf(name2)][hit];
  return {
    label, folder: label.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    status: diverges ? 'diverged' : index === 3 ? 'interrupted' : 'finished',
    reason: diverges ? 'loss is not finite at round 231' : '',
    algorithm, codec: bits ? `qsgd, ${bits} bits` : 'identity', rate, iterations,
    seconds: metrics[13][metrics[13].length - 1], digest: `5aaa9e60c33018e0977362f96144${7100 + index}`,
    data: accuracy ? 'mnist' : 'made', dimension,
    style: { color: methods.includes(method) ? methods.indexOf(method) : 6, dash: codecIndex, marker: index },
    metrics,
    reached: [hit < 0 ? null : { iteration: at('iteration'), megabits: at('bits_payload') / 1e6,
      seconds: at('seconds') }],
    graph: 'ring', agents, edges: Array.from({ length: agents }, (_, i) => [i, (i + 1) % agents]),
    last: diverges ? null : lastOf(random, iterations, accuracy),
    machine: { instruction_set: 'AVX-512', kernel: 'Eigen', blas: 'OpenBLAS 0.3.21 SkylakeX', threads: 2,
      version: '0.1.0' },
    toml: toml(label, algorithm, bits),
  };
}

/** The links of a grid, or of a torus if it is closed. */
export function gridEdges(rows, columns, closed) {
  const edges = [];
  for (let r = 0; r < rows; r += 1) {
    for (let c = 0; c < columns; c += 1) {
      if (c + 1 < columns || closed) edges.push([r * columns + c, r * columns + ((c + 1) % columns)]);
      if (r + 1 < rows || closed) edges.push([r * columns + c, ((r + 1) % rows) * columns + c]);
    }
  }
  return edges;
}

export function sampleReport({ accuracy = true } = {}) {
  const runs = [];
  for (const method of methods) {
    [8, 4].forEach((bits, c) => runs.push(runOf(method, bits, runs.length, c + 1, accuracy)));
  }
  runs.push(runOf(['DGD', 'dgd', 0.048, 2e-2], 0, runs.length, 0, accuracy));
  return { format: 1, title: 'paper_figure', version: '0.1.0', date: '2026-11-15T06:00:00Z',
    command: 'ticopd compare experiments/paper_figure.toml',
    targets: accuracy ? [{ metric: 'accuracy_min', value: 0.8 }] : [], columns, titles,
    higher_is_better: ['accuracy_min', 'accuracy_mean'], runs };
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

/** Median, low and high of the cells of several runs, as the program counts groups. */
function groupOf(label, members, runs) {
  const rows = Math.min(...members.map((run) => runs[run].metrics[0].length));
  const each = (pick) => columns.map((_, c) => Array.from({ length: rows }, (_unused, row) => {
    const cells = members.map((run) => runs[run].metrics[c][row]).filter((v) => typeof v === 'number');
    return cells.length > 0 ? pick(cells.sort((a, b) => a - b)) : null;
  }));
  return { label, runs: members, style: runs[members[0]].style, columns,
    mid: each((v) => mean([v[(v.length - 1) >> 1], v[v.length >> 1]])), low: each((v) => v[0]),
    high: each((v) => v[v.length - 1]) };
}

/** A sweep: two methods, four widths of the codec, five seeds, so forty runs in eight groups. */
export function sweptReport() {
  const report = sampleReport();
  const [runs, groups] = [[], []];
  for (const [m, method] of [methods[0], methods[2]].entries()) {
    for (const [b, bits] of [1, 2, 4, 8].entries()) {
      const group = `${method[0]}, bits = ${bits}`;
      const members = [];
      for (let seed = 1; seed <= 5; seed += 1) {
        const slower = [...method];
        slower[2] *= 1 - 0.3 / bits + 0.01 * seed;
        const run = runOf(slower, bits, runs.length + 20, b, true);
        members.push(runs.length);
        runs.push({ ...run, label: `${group}, seed ${seed}`, folder: `run-${runs.length}`, group, seed,
          swept: { 'codec.bits': bits }, status: 'finished', reason: '',
          style: { color: m, dash: b, marker: groups.length } });
      }
      groups.push(groupOf(group, members, runs));
    }
  }
  return { ...report, title: 'bits_and_seeds', runs, groups, sweep: ['codec.bits'], band: 'range' };
}

/** Many long runs, each logging at rounds of its own: what the page must show without stutter. */
export function wideReport(count = 100, rows = 1000) {
  const report = sampleReport();
  report.runs = Array.from({ length: count }, (_, i) => {
    const run = runOf(methods[i % 5], 8, i, i % 5, true);
    const random = generator(i + 1);
    const rounds = Array.from({ length: rows }, (_unused, k) => k * 10 + (k > 0 ? i % 10 : 0));
    const decay = 0.02 + 0.001 * (i % 23);
    const rate = 3 + (i % 17) / 3;
    const at = rounds.map((k) => {
      const noise = 1 + 0.1 * (random() - 0.5);
      const loss = (0.1 + 2 * Math.exp(-decay * Math.sqrt(k))) * noise;
      return [k, k * dimension * rate, k * dimension * (rate + 0.1), 2 * k * dimension * rate, loss,
        loss ** 2 / 10, k === 0 ? 0 : noise ** 3 / k, 1 - loss / 3, loss * 0.9, loss ** 2 / 20,
        1 - loss / 4, loss / 50, 1e-8, k * 0.01];
    });
    return { ...run, label: `${run.label} number ${i}`, folder: `run-${i}`, status: 'finished',
      reason: '', metrics: columns.map((_unused, c) => at.map((row) => row[c])),
      style: { ...run.style, marker: i } };
  });
  return report;
}

/** One run on a network of any size, whose agents' losses are known at every logged round. */
export function networkReport(graph, count, edges, positions) {
  const report = sampleReport();
  const [run] = report.runs;
  const iterations = run.metrics[0];
  const loss = (k, i) => 0.2 + Math.exp(-k / 300) * (1 + Math.sin((6 * i) / count));
  report.runs = [{ ...run, graph, agents: count, edges, ...(positions ? { positions } : {}),
    last: { iteration: iterations[iterations.length - 1],
      loss: Array.from({ length: count }, (_, i) => loss(1400, i)) },
    history: count > 1000 ? null : { metric: 'loss', iterations,
      values: iterations.map((k) => Array.from({ length: count }, (_, i) => loss(k, i))) } }];
  return report;
}
