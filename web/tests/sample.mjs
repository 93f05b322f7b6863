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
