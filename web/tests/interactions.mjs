// What a reader does with a page of many runs: tests of pages made from sample.mjs. page.test.mjs
// imports this file, so that both use one browser.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { artefacts, writePage } from './fill.mjs';
import { dataset, open, panelAt, pixels, plotBox, readings, saved, seriousFindings,
  settled } from './opened.mjs';
import { gridEdges, networkReport, sampleReport, sweptReport, wideReport } from './sample.mjs';

const made = new Map();

/** The page of a report, made once. */
async function page(name, make, options) {
  if (!made.has(name)) {
    const report = make();
    const path = writePage(join(artefacts, `${name}.html`), JSON.stringify(report));
    made.set(name, { report, url: pathToFileURL(path).href });
  }
  const { report, url } = made.get(name);
  const opened = await open(url, options);
  await settled(opened.page);
  return { report, ...opened };
}

const sample = (options) => page('sample-interactions', sampleReport, options);
const swept = (options) => page('swept', sweptReport, options);

const texts = (locator) => locator.evaluateAll((all) => all.map((e) => e.textContent.trim()));
const tableRuns = (p) => p.locator('.summary tbody tr[data-run]').evaluateAll((rows) =>
  rows.map((row) => Number(row.dataset.run)));
const last = (report, run, column) => {
  const cells = report.runs[run].metrics[report.columns.indexOf(column)];
  return cells[cells.length - 1];
};

test('a click on a head sorts the table, a second turns it round, a third brings the order back', async () => {
  const { page: p, report, close } = await sample();
  const given = await tableRuns(p);
  const button = p.locator('.summary [data-sort=loss_max]');
  await button.click();
  const up = await tableRuns(p);
  const losses = up.map((run) => last(report, run, 'loss_max')).filter((v) => typeof v === 'number');
  assert.deepEqual(losses, [...losses].sort((a, b) => a - b));
  assert.equal(last(report, up[up.length - 1], 'loss_max'), 'nan', 'what is no number comes last');
  assert.equal(await p.locator('th[aria-sort=ascending]').textContent(), 'loss');
  await button.click();
  const down = await tableRuns(p);
  assert.deepEqual(down.slice(0, -1), up.slice(0, -1).reverse());
  assert.equal(down[down.length - 1], up[up.length - 1]);
  await button.click();
  assert.deepEqual(await tableRuns(p), given);
  await close();
});

test('a search finds runs in the list and the table, and can show only these', async () => {
  const { page: p, report, close } = await sample();
  await p.fill('#list-search', 'choco 4-BIT');
  assert.deepEqual(await texts(p.locator('.run .run-label')), ['CHOCO-SGD 4-bit']);
  assert.deepEqual((await tableRuns(p)).map((run) => report.runs[run].label), ['CHOCO-SGD 4-bit']);
  assert.equal(await p.inputValue('#table-search'), 'choco 4-BIT', 'both fields are one search');
  const before = await pixels(p, 0);
  await p.locator('[data-show=found]').click();
  assert.notEqual((await pixels(p, 0)).hash, before.hash);
  await p.fill('#list-search', '');
  assert.equal(await p.locator('.run[aria-pressed=true]').count(), 1);
  await p.fill('#list-search', 'no such run');
  await p.getByText('No run matches.').waitFor();
  await close();
});

test('runs are grouped by codec, folded, and switched on and off together', async () => {
  const { page: p, close } = await sample();
  await p.selectOption('#list-group', 'codec');
  assert.deepEqual(await texts(p.locator('.fold')), ['identity (1)', 'qsgd, 4 bits (6)', 'qsgd, 8 bits (6)']);
  assert.equal(await p.locator('.summary .section').count(), 3);
  await p.locator('.fold').nth(1).click();
  assert.equal(await p.locator('.run:visible').count(), 7);
  await p.getByRole('button', { name: 'Show or hide qsgd, 8 bits' }).click();
  assert.equal(await p.locator('.run[aria-pressed=false]').count(), 6);
  await p.getByRole('button', { name: 'Show or hide qsgd, 8 bits' }).click();
  assert.equal(await p.locator('.run[aria-pressed=false]').count(), 0);
  await close();
});

test('the list is sorted by a metric, downwards too', async () => {
  const { page: p, report, close } = await sample();
  const finals = () => p.locator('.run').evaluateAll((all) => all.map((e) => Number(e.dataset.run)))
    .then((runs) => runs.map((run) => last(report, run, 'accuracy_min')));
  await p.selectOption('#list-sort', 'accuracy_min');
  const up = await finals();
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  await p.locator('#list-down').click();
  assert.deepEqual(await finals(), [...up].reverse());
  await close();
});

test('a panel takes another metric and axis, bits over all links too', async () => {
  const { page: p, report, close } = await sample();
  await p.selectOption('#panel-0-y', 'surrogate_error');
  await p.locator('#panel-0-x').focus();
  await p.selectOption('#panel-0-x', 'bits_link');
  const data = await dataset(p, 0);
  assert.deepEqual([data.metric, data.x], ['surrogate_error', 'bits_link']);
  const most = Math.max(...report.runs.map((run) => last(report, report.runs.indexOf(run), 'bits_link')));
  assert.ok(Number(data.xMax) >= most && Number(data.xMax) < 1.5 * most, `${data.xMax} for ${most}`);
  assert.equal((await dataset(p, 1)).metric, 'loss_max', 'the other panels stay');
  assert.equal(await p.evaluate(() => document.activeElement.id), 'panel-0-x', 'the choice keeps the focus');
  await close();
});

test('each axis of a panel is linear or logarithmic', async () => {
  const { page: p, close } = await sample();
  const button = (which) => panelAt(p, 0).locator(`[data-log=${which}]`);
  assert.equal((await dataset(p, 0)).logY, 'true');
  const before = await pixels(p, 0);
  await button('logY').click();
  const linear = await dataset(p, 0);
  assert.deepEqual([linear.logX, linear.logY], ['true', 'false']);
  assert.notEqual((await pixels(p, 0)).hash, before.hash);
  await button('logX').click();
  const both = await dataset(p, 0);
  assert.equal(both.logX, 'false');
  assert.ok(Number(both.xMin) <= 0, 'round 0 shows on the linear axis');
  assert.equal((await dataset(p, 2)).logX, 'true');
  await close();
});

async function drag(p, index, from, to) {
  const box = await plotBox(p, index);
  await p.mouse.move(box.x + box.width * from, box.y + box.height / 2);
  await p.mouse.down();
  await p.mouse.move(box.x + box.width * to, box.y + box.height / 2 + 4, { steps: 4 });
  await p.mouse.up();
  await settled(p);
  return box;
}

test('a zoom is that of every panel with the same axis, and y follows what is drawn', async () => {
  const { page: p, close } = await sample();
  const before = await Promise.all([0, 1, 2].map((i) => dataset(p, i)));
  await drag(p, 0, 0.6, 0.9);
  const [left, right, below] = await Promise.all([0, 1, 2].map((i) => dataset(p, i)));
  assert.ok(Number(left.xMin) > 10 * Number(before[0].xMin));
  assert.deepEqual([below.xMin, below.xMax], [left.xMin, left.xMax]);
  assert.deepEqual(right, before[1], 'bits are another axis');
  assert.ok(Number(left.yMax) < Number(before[0].yMax), 'the early, high losses are out of the window');
  const box = await plotBox(p, 2);
  await p.mouse.dblclick(box.x + 50, box.y + 50);
  assert.deepEqual(await dataset(p, 0), before[0], 'a double click in one panel resets them all');
  await close();
});

test('the y range follows the runs that are shown', async () => {
  const { page: p, close } = await sample();
  const before = await dataset(p, 4);
  await p.fill('#list-search', 'TiCoPD 8');
  await p.locator('[data-show=found]').click();
  const after = await dataset(p, 4);
  assert.ok(Number(after.yMin) >= Number(before.yMin) && Number(after.yMax) < Number(before.yMax),
    `${before.yMax} to ${after.yMax}`);
  await close();
});

test('the wheel scrolls the page, and zooms with Ctrl or once a panel has the focus', async () => {
  const { page: p, close } = await sample();
  const box = await plotBox(p, 0);
  const full = await dataset(p, 0);
  await p.mouse.move(box.x + box.width * 0.7, box.y + 60);
  await p.mouse.wheel(0, -40);
  await p.waitForTimeout(150);
  assert.deepEqual(await dataset(p, 0), full, 'no zoom');
  await p.mouse.wheel(0, 40);
  await p.waitForTimeout(150);
  const wide = (data) => Math.log(Number(data.xMax) / Number(data.xMin));
  await p.keyboard.down('Control');
  await p.mouse.wheel(0, -200);
  await p.keyboard.up('Control');
  await p.waitForFunction((was) => document.querySelector('.panel').dataset.xMin !== was, full.xMin);
  const once = await dataset(p, 0);
  assert.ok(wide(once) < 0.9 * wide(full));
  const again = await plotBox(p, 0);
  await p.mouse.click(again.x + again.width * 0.7, again.y + 60);
  await p.mouse.wheel(0, -200);
  await p.waitForFunction((was) => document.querySelector('.panel').dataset.xMin !== was, once.xMin);
  for (let i = 0; i < 8; i += 1) await p.mouse.wheel(0, 400);
  await p.waitForFunction(() => document.querySelector('.panel').dataset.zoomed === 'false');
  assert.deepEqual(await dataset(p, 0), full, 'out no further than all there is');
  await close();
});

test('two fingers zoom, on a page of one column that does not scroll sideways', async () => {
  const { page: p, close } = await swept({ viewport: { width: 390, height: 844 }, hasTouch: true,
    isMobile: true });
  const sideways = await p.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(sideways <= 0, `${sideways} px too wide`);
  const lefts = await p.locator('.panel').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().left));
  assert.equal(new Set(lefts).size, 1, 'one column');
  const box = await plotBox(p, 0);
  const full = await dataset(p, 0);
  const touch = await p.context().newCDPSession(p);
  const fingers = (type, apart) => touch.send('Input.dispatchTouchEvent', { type,
    touchPoints: apart === null ? [] : [-1, 1].map((side, id) =>
      ({ id, x: box.x + box.width / 2 + side * apart, y: box.y + 80 })) });
  await fingers('touchStart', 20);
  for (const apart of [40, 60, 80]) await fingers('touchMove', apart);
  await fingers('touchEnd', null);
  const zoomed = await dataset(p, 0);
  assert.ok(Number(zoomed.xMin) > Number(full.xMin) && Number(zoomed.xMax) < Number(full.xMax));
  await p.touchscreen.tap(box.x + box.width / 2, box.y + 60);
  const seen = await panelAt(p, 0).locator('.readout').boundingBox();
  assert.ok(seen && seen.x >= 0 && seen.x + seen.width <= 390, JSON.stringify(seen));
  const cut = await panelAt(p, 0).locator('.readout').evaluate((e) => e.scrollWidth - e.clientWidth);
  assert.ok(cut <= 0, `${cut} px of the box are cut off`);
  await close();
});

test('smoothing draws the mean over the logged values, which stay readable', async () => {
  const { page: p, report, close } = await sample();
  const before = await pixels(p, 0);
  await p.locator('#smoothing').focus();
  for (let i = 0; i < 4; i += 1) await p.keyboard.press('ArrowRight');
  await p.getByText('mean of 9 rows').waitFor();
  assert.notEqual((await pixels(p, 0)).hash, before.hash);
  const { bytes } = await saved(p, panelAt(p, 0).locator('[data-save=csv]'));
  const [head, ...rows] = bytes.toString().trim().split('\n').map((line) => line.split(','));
  assert.deepEqual(head, ['run', 'iteration', 'loss_max', 'loss_max mean of 9 rows']);
  const own = rows.filter(([label]) => label === report.runs[0].label);
  const k = 10;
  const logs = own.slice(k - 4, k + 5).map((row) => Math.log10(Number(row[2])));
  const mean = 10 ** (logs.reduce((a, b) => a + b, 0) / 9);
  assert.ok(Math.abs(Number(own[k][3]) / mean - 1) < 1e-9, `${own[k][3]} instead of ${mean}`);
  const svg = (await saved(p, panelAt(p, 0).locator('[data-save=svg]'))).bytes.toString();
  assert.ok(svg.includes('opacity="0.28"'), 'the logged curve stays behind');
  await close();
});

test('the SVG holds the curves that are shown, and any label', async () => {
  const odd = () => {
    const report = sampleReport();
    report.runs[0].label = '=HYPERLINK("x")<b>&\u0001';
    return report;
  };
  const { page: p, report, close } = await page('odd-labels', odd);
  await p.locator('.run').nth(2).click();
  const { name, bytes } = await saved(p, panelAt(p, 0).locator('[data-save=svg]'));
  assert.equal(name, 'loss-max-by-iteration.svg');
  const seen = await p.evaluate((text) => {
    const tree = new DOMParser().parseFromString(text, 'image/svg+xml');
    return { broken: tree.querySelector('parsererror')?.textContent ?? '',
      curves: tree.querySelectorAll('.curve').length,
      words: [...tree.querySelectorAll('text')].map((e) => e.textContent) };
  }, bytes.toString());
  assert.equal(seen.broken, '');
  assert.equal(seen.curves, report.runs.length - 1);
  assert.ok(seen.words.some((words) => words.startsWith('=HYPERLINK("x")<b>&')));
  assert.ok(!seen.words.includes(report.runs[2].label), 'a hidden run is not in the key');
  const csv = (await saved(p, panelAt(p, 0).locator('[data-save=csv]'))).bytes.toString();
  assert.ok(csv.includes('\n"\'=HYPERLINK(""x"")<b>&'), csv.slice(0, 80));
  await close();
});

test('the CSV holds the logged values inside the zoom', async () => {
  const { page: p, report, close } = await sample();
  await drag(p, 0, 0.6, 0.9);
  const { xMin, xMax } = await dataset(p, 0);
  const { bytes } = await saved(p, panelAt(p, 0).locator('[data-save=csv]'));
  const rows = bytes.toString().trim().split('\n').slice(1).map((line) => line.split(','));
  for (const run of [report.runs[0], report.runs[7]]) {
    const iterations = run.metrics[0];
    const expected = iterations.flatMap((k, i) => (k >= Number(xMin) && k <= Number(xMax)
      ? [[run.label, String(k), String(run.metrics[4][i])]] : []));
    assert.ok(expected.length > 3);
    assert.deepEqual(rows.filter(([label]) => label === run.label), expected);
  }
  await close();
});

test('the PNG is a picture at twice the size', async () => {
  const { page: p, close } = await sample();
  const { name, bytes } = await saved(p, panelAt(p, 1).locator('[data-save=png]'));
  assert.equal(name, 'loss-max-by-bits-payload.png');
  assert.equal(bytes.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
  assert.equal(bytes.readUInt32BE(16), 1520);
  const colours = await p.evaluate(async (data) => {
    const image = new Image();
    image.src = data;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)).size;
  }, `data:image/png;base64,${bytes.toString('base64')}`);
  assert.ok(colours > 50, `${colours} colours`);
  await close();
});

test('groups are a line and a band each, or their single runs', async () => {
  const { page: p, report, close } = await swept();
  assert.equal(await p.locator('.run').count(), 8);
  assert.ok((await p.locator('.run').first().textContent()).includes('5 runs'));
  const bands = await pixels(p, 0);
  const box = await plotBox(p, 0);
  await p.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.7);
  const rows = await readings(p, 0);
  assert.equal(rows.length, 8);
  const group = report.groups.find((g) => g.runs.includes(rows[0].run));
  const at = group.mid[0].indexOf(Number(rows[0].x));
  assert.equal(Number(rows[0].y), group.mid[4][at]);
  assert.match(rows[0].text, /\(\S+ … \S+\)/);
  await p.locator('#bands').uncheck();
  assert.equal(await p.locator('.run').count(), 40);
  assert.notEqual((await pixels(p, 0)).hash, bands.hash);
  await p.locator('#bands').check();
  assert.equal((await pixels(p, 0)).hash, bands.hash);
  await p.locator('.run').first().click();
  assert.notEqual((await pixels(p, 0)).hash, bands.hash, 'a group is switched off as a whole');
  await close();
});

test('the sweep shows what a target costs against the swept key', async () => {
  const { page: p, report, close } = await swept();
  const stage = p.locator('.sweep-stage');
  await p.waitForFunction(() => document.querySelector('.sweep-stage svg .curve'));
  assert.equal(await stage.getAttribute('data-lines'), '2');
  await p.locator('#sweep summary').click();
  const rows = await p.locator('#sweep tbody tr').evaluateAll((all) =>
    all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.equal(rows.length, 8);
  const reached = report.runs.filter((run) => run.group === 'TiCoPD, bits = 8')
    .map((run) => run.reached[0].megabits).sort((a, b) => a - b);
  const row = rows.find(([label, bits]) => label === 'TiCoPD' && bits === '8');
  assert.ok(Math.abs(Number(row[2]) / reached[2] - 1) < 1e-3, `${row} for ${reached}`);
  assert.equal(row[5], '5 of 5');
  const never = rows.filter((cells) => !cells[5].startsWith('5 '));
  assert.ok(never.length > 0);
  await p.getByText('Without a value, and not in the middle').waitFor();
  const before = await stage.innerHTML();
  await p.selectOption('#sweep-metric', 'accuracy_min');
  assert.notEqual(await stage.innerHTML(), before);
  assert.equal(await p.locator('#sweep-log').isChecked(), false);
  const csv = (await saved(p, p.locator('#sweep [data-save=csv]'))).bytes.toString();
  assert.equal(csv.trim().split('\n').length, 9);
  await close();
});

test('no serious accessibility finding with groups, bands, a sweep and an open box', async () => {
  const { page: p, close } = await swept({ colorScheme: 'dark' });
  await p.selectOption('#list-group', 'swept codec.bits');
  await p.locator('.summary [data-sort=label]').click();
  await p.locator('#sweep summary').click();
  await p.locator('#network summary').click();
  const box = await plotBox(p, 0);
  await p.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5);
  assert.deepEqual(await seriousFindings(p), []);
  await close();
});

test('the hover box names the nearest runs and counts the others', async () => {
  const { page: p, report, close } = await swept();
  await p.locator('#bands').uncheck();
  const box = await plotBox(p, 0);
  const data = await dataset(p, 0);
  const run = 17;
  const k = report.runs[run].metrics[0].findIndex((x) => x > 300);
  const place = (v, min, max) => Math.log(v / min) / Math.log(max / min);
  await p.mouse.move(box.x + box.width * place(report.runs[run].metrics[0][k], data.xMin, data.xMax),
    box.y + box.height * (1 - place(report.runs[run].metrics[4][k], data.yMin, data.yMax)));
  const rows = await readings(p, 0);
  assert.equal(rows.length, 10);
  assert.ok(rows.some((row) => row.run === run));
  const readout = panelAt(p, 0).locator('.readout');
  assert.equal(await readout.locator('.more').textContent(), 'and 30 more');
  const values = rows.map((row) => Number(row.y));
  assert.deepEqual(values, [...values].sort((a, b) => b - a), 'from the highest, like the curves');
  const shown = await readout.boundingBox();
  assert.ok(shown.height < 330);
  const main = await p.locator('#page').boundingBox();
  assert.ok(shown.x + shown.width <= main.x + main.width, 'inside the page');
  await close();
});

test('the slider colours the agents at each logged round', async () => {
  const torus = () => networkReport('torus', 64, gridEdges(8, 8, true));
  const { page: p, report, close } = await page('torus-64', torus);
  const picture = () => p.locator('.drawing canvas').evaluate((canvas) => canvas.toDataURL());
  assert.equal(await p.locator('.drawing').getAttribute('data-shape'), 'torus');
  const end = await picture();
  await p.locator('#network-round').focus();
  await p.keyboard.press('Home');
  assert.notEqual(await picture(), end);
  assert.match(await p.locator('.time output').textContent(), /^0: training loss, worst agent/);
  const [first, ends] = [await picture(), () => texts(p.locator('.scale-ends span'))];
  assert.deepEqual(await ends(), ['0.2000', '2.200'], 'one scale for all rounds');
  await p.locator('#network-own-scale').check();
  assert.notEqual(await picture(), first);
  assert.deepEqual(await ends(), ['0.2000', '2.200'].map((v, i) => (i === 0 ? '0.2003' : v)));
  await p.locator('#network-own-scale').uncheck();
  await p.locator('.drawing').focus();
  await p.keyboard.press('ArrowRight');
  await p.keyboard.press('ArrowRight');
  const said = Number(/ ([\d.]+)$/.exec(await p.locator('.agent-said').textContent())[1]);
  assert.ok(Math.abs(said - report.runs[0].history.values[0][1]) < 1e-3, 'the loss of agent 1 at round 0');
  await p.locator('#network-round').focus();
  await p.keyboard.press('End');
  await p.locator('.drawing').focus();
  await p.keyboard.press('ArrowLeft');
  assert.match(await p.locator('.agent-said').textContent(), /^agent 0: /);
  await close();
});

test('without a history only the last round is coloured, and the page says so', async () => {
  const { page: p, close } = await sample();
  assert.equal(await p.locator('.drawing').getAttribute('data-coloured'), 'true');
  await p.locator('#network-round').focus();
  await p.keyboard.press('ArrowLeft');
  assert.equal(await p.locator('.drawing').getAttribute('data-coloured'), 'false');
  await p.getByText('for its last round only').waitFor();
  await close();
});

test('ten thousand agents are drawn and found under the cursor', async () => {
  const large = () => networkReport('torus', 10_000, gridEdges(100, 100, true));
  const { page: p, close } = await page('torus-10000', large);
  await p.locator('.drawing').scrollIntoViewIfNeeded();
  const canvas = p.locator('.drawing canvas');
  const filled = await canvas.evaluate((element) => {
    const { data } = element.getContext('2d').getImageData(0, 0, element.width, element.height);
    let drawn = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 200) drawn += 1;
    return drawn / (element.width * element.height);
  });
  assert.ok(filled > 0.15, `${filled} of the canvas is drawn`);
  const box = await canvas.boundingBox();
  // Margin 22: agent 5050 stands in column 50 of row 50.
  const step = (box.width - 44) / 99;
  await p.mouse.move(box.x + 22 + 50 * step, box.y + 22 + 50 * step);
  assert.match(await p.locator('.agent-said').textContent(), /^agent 5050: /);
  await p.locator('#network summary').click();
  await p.getByText('and 9800 more; the CSV has all.').waitFor();
  const csv = (await saved(p, p.locator('#network [data-save=csv]'))).bytes.toString();
  assert.equal(csv.trim().split('\n').length, 10_001);
  await close();
});

test('a hundred runs of a thousand rows: pointing and zooming take little of the processor', async () => {
  const { page: p, close } = await page('wide', wideReport);
  const box = await plotBox(p, 0);
  const session = await p.context().newCDPSession(p);
  // Time of the thread, so that a busy machine changes nothing.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * metrics.find((m) => m.name === 'TaskDuration').value;
  };
  const cost = async (times, act) => {
    const before = await spent();
    for (let i = 0; i < times; i += 1) await act(i);
    await settled(p);
    return (await spent() - before) / times;
  };
  const hover = await cost(30, (i) => p.mouse.move(box.x + 40 + 10 * i, box.y + 80 + (i % 7)));
  assert.equal((await readings(p, 0)).length, 10);
  await p.mouse.click(box.x + 200, box.y + 80);
  const zoom = await cost(8, () => p.mouse.wheel(0, -100));
  console.log(`# 100 x 1000: ${hover.toFixed(1)} ms for a move, ${zoom.toFixed(1)} ms for a step of the wheel`);
  assert.ok(hover < 40, `${hover} ms for a move of the mouse`);
  assert.ok(zoom < 400, `${zoom} ms for a step of the wheel, with all panels`);
  await close();
});
