// The parts that need no browser. Vite loads the TypeScript, as it does for the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { createServer } from 'vite';
import { sampleReport } from './sample.mjs';

const vite = await createServer({ appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, hmr: false, ws: false, watch: null } });
after(() => vite.close());
const load = (name) => vite.ssrLoadModule(`/src/${name}.ts`);
const { blewUp, parseReport, NoReport, finalCell } = await load('data');
const { curveOf, nearestPoint, shownPoints, stepAlong, xExtent, yExtent } = await load('curves');
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

test('what an axis cannot place is a gap in y and left out in x', () => {
  const run = { metrics: new Map([['x', [0, 1, 2, 3, NaN, 5, 6]],
    ['y', [7, 0, NaN, Infinity, 1, null, 4]]]) };
  assert.deepEqual(curveOf(run, 'x', 'y', true, true),
    { x: [1, 2, 3, 5, 6], y: [null, null, null, null, 4] });
  assert.deepEqual(curveOf(run, 'x', 'y', false, false),
    { x: [0, 1, 2, 3, 5, 6], y: [7, 0, null, null, null, 4] });
  assert.deepEqual(curveOf(run, 'x', 'absent', false, false).y, new Array(6).fill(null));
});

test('the nearest point is nearest on the axis that is shown', () => {
  const points = [{ x: 1, y: 5 }, { x: 100, y: 6 }];
  assert.equal(nearestPoint(points, 20, false).x, 1);
  assert.equal(nearestPoint(points, 20, true).x, 100);
  assert.equal(nearestPoint([], 20, true), null);
  assert.deepEqual(shownPoints({ x: [1, 2], y: [null, 3] }), [{ x: 2, y: 3 }]);
});

test('steps along a curve stop at its ends', () => {
  const points = [1, 2, 3].map((x) => ({ x, y: x }));
  assert.equal(stepAlong(points, null, 1).x, 1);
  assert.equal(stepAlong(points, 1, 1).x, 2);
  assert.equal(stepAlong(points, 3, 1).x, 3);
  assert.equal(stepAlong(points, 2, -Infinity).x, 1);
});

test('a diverged run does not press the others flat', () => {
  const steady = [{ x: 1, y: 1 }, { x: 2, y: 10 }];
  const wild = [{ x: 1, y: 1 }, { x: 2, y: 1e30 }];
  const both = yExtent([steady, wild], [true, true], [false, true], [0, 9], true);
  assert.ok(both[1] > 20 && both[1] < 50, String(both));
  const alone = yExtent([steady, wild], [false, true], [false, true], [0, 9], true);
  assert.ok(alone[1] > 1e30);
  assert.deepEqual(xExtent([[], []], true), [1, 10]);
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
