// The parts that need no browser. Vite loads the TypeScript, as it does for the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { createServer } from 'vite';
import { gridEdges, sampleReport, sweptReport } from './sample.mjs';

const vite = await createServer({ appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, hmr: false, ws: false, watch: null } });
after(() => vite.close());
const load = (name) => vite.ssrLoadModule(`/src/${name}.ts`);
const { blewUp, parseReport, NoReport, finalCell } = await load('data');
const { curveOf, nearestRow, stepAlong, xExtent, yExtent } = await load('curves');
const { piecesOf } = await load('frame');
const { csvText } = await load('csv');
const { arrange } = await load('order');
const { layoutOf } = await load('layouts');
const { addRows } = await load('live');
const { sweepLines } = await load('sweep');
const { linearTicks, logTicks, tickLabels } = await load('ticks');
const { dateWords, largerIsBetter, nameColumns, short, wordsOf } = await load('words');
const { ColorScale } = await load('colorscale');
const { metricsOf } = await load('panels');

test('the template, broken JSON and another format are refused in words', () => {
  assert.throws(() => parseReport('"any text"'), { message: /empty template/ });
  assert.throws(() => parseReport('{"format": 1'), { message: /not JSON/ });
  assert.throws(() => parseReport('{"format": 2}'), { message: /format 2.*shows format 1/ });
  assert.throws(() => parseReport('[]'), NoReport);
});

test('a run with too few columns is named', () => {
  const report = sampleReport();
  report.runs[2].metrics.pop();
  assert.throws(() => parseReport(JSON.stringify(report)), { message: /"CP-SGD 8-bit" has 13 columns/ });
});

test('columns are named as the report names them', () => {
  const report = sampleReport();
  report.titles[report.columns.indexOf('consensus')] = 'how far apart';
  nameColumns(parseReport(JSON.stringify(report)).columns);
  assert.equal(wordsOf('consensus'), 'how far apart');
  assert.equal(wordsOf('distance2'), 'squared distance to the average model');
  assert.equal(wordsOf('unheard_of'), 'unheard_of');
  assert.ok(largerIsBetter('accuracy_min') && !largerIsBetter('loss_max'));
});

test('nan and inf become numbers, an empty cell stays empty', () => {
  const report = sampleReport({ accuracy: false });
  report.runs[0].metrics[4].splice(-3, 3, 'inf', '-inf', 'nan');
  const [run] = parseReport(JSON.stringify(report)).runs;
  assert.deepEqual(run.metrics.get('loss_max').slice(-3), [Infinity, -Infinity, NaN]);
  assert.equal(finalCell(run, 'accuracy_min'), null);
});

const cells = (x, y) => ({ x, y });
const listed = (values) => [...values].map((v) => (Number.isNaN(v) ? null : v));

test('what an axis cannot place is a gap in y and left out in x', () => {
  const odd = cells([0, 1, 2, 3, NaN, 5, 6], [7, 0, NaN, Infinity, 1, null, 4]);
  const log = curveOf(odd, true, true);
  assert.deepEqual([listed(log.x), listed(log.y)], [[1, 2, 3, 5, 6], [null, null, null, null, 4]]);
  assert.ok(Math.abs(log.at.y[4] - Math.log10(4)) < 1e-15, 'the axis counts decades');
  const linear = curveOf(odd, false, false);
  assert.deepEqual([listed(linear.x), listed(linear.y)],
    [[0, 1, 2, 3, 5, 6], [7, 0, null, null, null, 4]]);
  assert.deepEqual(listed(curveOf(cells([0, 1], []), false, false).y), [null, null]);
  assert.deepEqual(listed(curveOf(cells([2, 1, 3], [20, 10, 30]), false, false).y), [10, 20, 30]);
});

test('the nearest row is nearest on the axis that is shown, and has a value', () => {
  const points = cells([1, 50, 100], [5, null, 6]);
  const linear = curveOf(points, false, false);
  assert.equal(nearestRow(linear, 20), 0);
  assert.equal(nearestRow(linear, 51), 2);
  assert.equal(nearestRow(curveOf(points, true, false), Math.log10(20)), 2);
  assert.equal(nearestRow(curveOf(cells([], []), true, false), 1), -1);
});

test('steps along a curve skip gaps and stop at its ends', () => {
  const curve = curveOf(cells([1, 2, 3, 4], [1, 2, null, 4]), false, false);
  assert.equal(stepAlong(curve, null, 1), 0);
  assert.equal(stepAlong(curve, 2, 1), 3);
  assert.equal(stepAlong(curve, 4, 1), 3);
  assert.equal(stepAlong(curve, 2, -Infinity), 0);
});

test('smoothing is the mean of the rows around, of decades on a log axis, and keeps gaps', () => {
  const curve = (log) => curveOf(cells([1, 2, 3, 4, 5], [1, 10, 1000, null, 1]), false, log, 1);
  assert.deepEqual(listed(curve(false).at.y), [1, 337, 505, null, 1]);
  assert.ok(Math.abs(curve(true).at.y[1] - 4 / 3) < 1e-12);
  assert.deepEqual(listed(curve(false).y), [1, 10, 1000, null, 1], 'the values read stay the logged ones');
});

test('a diverged run does not press the others flat', () => {
  const steady = curveOf(cells([1, 2], [1, 10]), false, true);
  const wild = curveOf(cells([1, 2], [1, 1e30]), false, true);
  const both = yExtent([steady, wild], [true, true], [false, true], [0, 9], true).map((v) => 10 ** v);
  assert.ok(both[1] > 20 && both[1] < 50, String(both));
  const alone = yExtent([steady, wild], [false, true], [false, true], [0, 9], true);
  assert.ok(alone[1] > 30);
  assert.ok(yExtent([steady], [true], [false], [1.5, 9], true)[0] > 0.5, 'y follows the window');
  assert.deepEqual(xExtent([], true), [0, 1]);
});

test('drawing leaves out points but no peak', () => {
  const count = 100_000;
  const x = Float64Array.from({ length: count }, (_, i) => i);
  const y = Float64Array.from(x, (v) => (v === 54_321 ? 9 : Math.sin(v) / 10));
  const frame = { x: [0, count], y: [-1, 10], logX: false, logY: false, left: 0, top: 0, width: 500,
    height: 1100 };
  const [piece, ...others] = piecesOf(frame, x, y, 0, count);
  assert.equal(others.length, 0);
  assert.ok(piece.length < 2 * 4 * 502, `${piece.length / 2} points`);
  const highest = Math.min(...piece.filter((_, i) => i % 2 === 1));
  assert.ok(Math.abs(highest - 100) < 1e-9, `the peak is at ${highest}`);
  assert.equal(piecesOf(frame, x.slice(0, 5), Float64Array.from([1, 2, NaN, 3, 4]), 0, 5).length, 2);
});

test('a cell of CSV that begins like a formula is text', () => {
  assert.equal(csvText(['a'], [['=1+1'], ['@SUM(A1)'], ['say, "so" 1'], [-1.5], [null], ['\t=2'], [NaN]]),
    'a\n\'=1+1\n\'@SUM(A1)\n"say, ""so"" 1"\n-1.5\n\n\'\t=2\nnan\n');
});

test('runs are found by words, grouped and sorted, and what is missing comes last', () => {
  const report = parseReport(JSON.stringify(sampleReport()));
  const order = { query: '', groupBy: '', sortBy: '', descending: false };
  const labels = (change) => arrange(report, { ...order, ...change })
    .map(({ name, runs }) => [name, runs.map((run) => report.runs[run].label)]);
  assert.deepEqual(labels({ query: 'choco 4' }), [['', ['CHOCO-SGD 4-bit']]]);
  const groups = labels({ groupBy: 'codec' });
  assert.deepEqual(groups.map(([name, runs]) => [name, runs.length]),
    [['identity', 1], ['qsgd, 4 bits', 6], ['qsgd, 8 bits', 6]]);
  for (const descending of [false, true]) {
    const [[, runs]] = labels({ sortBy: 'target 0 megabits', descending });
    const reached = runs.map((label) => report.runs.find((run) => run.label === label).reached[0]?.megabits);
    const known = reached.filter((v) => v !== undefined);
    assert.ok(known.length < reached.length && reached.slice(known.length).every((v) => v === undefined));
    assert.deepEqual(known, [...known].sort((a, b) => (descending ? b - a : a - b)));
  }
});

test('a sweep has a line for each run without the swept key, also where two keys go side by side', () => {
  const report = parseReport(JSON.stringify(sweptReport()));
  const [lines] = [sweepLines(report, 'codec.bits', 'loss_max')];
  assert.deepEqual(lines.map((line) => [line.label, line.points.map((point) => point.value)]),
    [['TiCoPD', [1, 2, 4, 8]], ['CHOCO-SGD', [1, 2, 4, 8]]]);
  const finals = report.runs.slice(0, 5).map((run) => finalCell(run, 'loss_max')).sort((a, b) => a - b);
  const { mid, low, high, counted } = lines[0].points[0];
  assert.deepEqual([mid, low, high, counted], [finals[2], finals[0], finals[4], 5]);
  report.band = 'deviation';
  const mean = finals.reduce((a, b) => a + b) / 5;
  const point = sweepLines(report, 'codec.bits', 'loss_max')[0].points[0];
  const spread = Math.sqrt(finals.reduce((sum, v) => sum + (v - mean) ** 2, 0) / 4);
  assert.ok(Math.abs(point.mid - mean) < 1e-12 && Math.abs(point.high - mean - spread) < 1e-12);
  report.sweep = ['codec.bits', 'algorithm.eta'];
  for (const run of report.runs) {
    run.swept.set('algorithm.eta', run.swept.get('codec.bits') / 10);
    run.group += `, eta = ${run.swept.get('algorithm.eta')}`;
  }
  assert.deepEqual(sweepLines(report, 'algorithm.eta', 'loss_max').map((line) => [line.label,
    line.points.length]), [['TiCoPD', 4], ['CHOCO-SGD', 4]]);
});

test('each kind of network is drawn as what it is', () => {
  const torus = layoutOf('torus', 30, gridEdges(5, 6, true), null);
  assert.equal(torus.shape, 'torus');
  assert.equal(new Set(torus.places.map(([x]) => x.toFixed(6))).size, 6, 'six columns');
  assert.ok(torus.wraps(0, 5) && torus.wraps(0, 24) && !torus.wraps(0, 1) && !torus.wraps(0, 6));
  assert.equal(layoutOf('grid', 12, gridEdges(3, 4, false), null).shape, 'grid');
  assert.equal(layoutOf('grid', 12, gridEdges(3, 4, false).slice(1), null).shape, 'circle',
    'what is no grid is not drawn as one');
  const path = layoutOf('path', 5, [[0, 1], [1, 2], [2, 3], [3, 4]], null);
  assert.ok(path.places.every(([, y]) => y === path.places[0][1]), 'a line');
  const star = layoutOf('star', 5, [[0, 1], [0, 2], [0, 3], [0, 4]], null);
  assert.deepEqual(star.places[0], [0.5, 0.5]);
  const cube = layoutOf('hypercube', 16, [], null);
  assert.equal(new Set(cube.places.map((place) => place.map((v) => v.toFixed(4)).join())).size, 16);
  assert.equal(layoutOf('ring', 7, [], null).shape, 'circle');
  const given = layoutOf('geometric', 3, [[0, 1], [1, 2]], [[0, 0], [4, 0], [4, 2]]);
  assert.deepEqual(given.places, [[0, 0.25], [1, 0.25], [1, 0.75]]);
});

test('a geometric network without positions is drawn by its links', () => {
  const edges = gridEdges(8, 8, false);
  const { shape, places } = layoutOf('geometric', 64, edges, null);
  assert.match(shape, /map/);
  const apart = ([a, b]) => Math.hypot(places[a][0] - places[b][0], places[a][1] - places[b][1]);
  const linked = Math.max(...edges.map(apart));
  assert.ok(linked < 0.5 * apart([0, 63]), `linked agents up to ${linked} apart, corners ${apart([0, 63])}`);
  assert.equal(layoutOf('file', 4, [[0, 1], [2, 3]], null).shape, 'circle', 'not connected');
});

test('rows that do not follow are refused', () => {
  const report = parseReport(JSON.stringify(sampleReport()));
  const columns = [...report.columns.keys()];
  const [run] = report.runs;
  const had = run.metrics.get('iteration').length;
  const rows = (from, metrics) => ({ run: 0, from, metrics, status: 'running', iterations: 9, seconds: 1,
    last: null });
  assert.equal(addRows(run, columns, rows(had + 1, columns.map(() => [1]))), false);
  assert.equal(addRows(run, columns, rows(had, [[1]])), false);
  assert.equal(addRows(undefined, columns, rows(had, columns.map(() => [1]))), false);
  assert.equal(run.metrics.get('iteration').length, had);
  assert.equal(addRows(run, columns, rows(had, columns.map(() => [1, 'nan']))), true);
  assert.equal(run.metrics.get('loss_max').length, had + 2);
  assert.ok(Number.isNaN(run.metrics.get('loss_max')[had + 1]));
  assert.equal(run.status, 'running');
});

test('a run blew up by its status or by its loss', () => {
  const run = (status, ...loss) => blewUp({ status, metrics: new Map([['loss_max', loss]]) });
  assert.ok(run('diverged', 2, 1));
  assert.ok(run('finished', 2, 1e6, 2));
  assert.ok(!run('finished', 2, 40, 1));
  assert.ok(!run('finished', null, 1e6));
});

test('ticks are round, inside the range and never fewer than two', () => {
  for (const [low, high] of [[1, 1400], [0.21, 0.29], [3e-9, 2e4], [7e5, 1e9], [2.1, 2.9], [40, 130]]) {
    for (const ticks of [linearTicks(low, high, 6), logTicks(low, high, 6)]) {
      assert.ok(ticks.length <= 8, `${low} ${high}: ${ticks}`);
      const slack = (high - low) * 1e-8;
      assert.ok(ticks.every((t) => t >= low - slack && t <= high + slack), `${ticks}`);
    }
    assert.ok(logTicks(low, high, 6).length >= 2, `${low} ${high}`);
  }
  assert.deepEqual(linearTicks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(tickLabels([1e-4, 1e-2, 1]), ['10⁻⁴', '10⁻²', '10⁰']);
  assert.deepEqual(tickLabels([0, 2e8]), ['0', '2·10⁸']);
});

test('numbers are short and dates readable', () => {
  assert.deepEqual([0, 1400, 0.123456, 0.807, 4.44e-4, 12345.6, 715624000, NaN, null].map((v) => short(v)),
    ['0', '1400', '0.1235', '0.8070', '4.440e-4', '12346', '7.156e8', 'nan', '–']);
  assert.equal(dateWords('2026-11-15T06:00:00Z'), '2026-11-15 06:00 UTC');
  assert.equal(dateWords('soon'), 'soon');
});

test('the colour scale spans its values and has no colour for what is no number', () => {
  const scale = new ColorScale([1, 3, NaN, null]);
  assert.deepEqual([scale.min, scale.max, scale.log], [1, 3, false]);
  assert.notEqual(scale.paint(1).fill, scale.paint(3).fill);
  assert.equal(scale.paint(NaN), null);
  assert.equal(new ColorScale([1e-4, 1]).log, true);
  assert.equal(new ColorScale([]).empty, true);
});

test('without a test set the last row shows the average model', () => {
  const rows = (accuracy) => metricsOf(parseReport(JSON.stringify(sampleReport({ accuracy }))).runs);
  assert.equal(rows(true).metrics[3], 'accuracy_min');
  assert.equal(rows(false).metrics[3], 'loss_mean');
  assert.match(rows(false).note, /No run has a test accuracy/);
});

test('the lock file names no host', () => {
  const lock = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
  assert.doesNotMatch(lock, /https?:|resolved/);
});
