// A page that is served while runs go on, with a server that speaks as "ticopd watch" does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveServer } from './live_server.mjs';
import { dataset, open, panelAt, pixels, saved, settled } from './opened.mjs';
import { sampleReport } from './sample.mjs';

/** Two runs that have made about half of their rounds; `rest` gives what is still to come. */
function begun() {
  const report = sampleReport();
  report.runs = report.runs.slice(0, 2);
  const rest = report.runs.map((run) => {
    const whole = run.metrics;
    const half = whole[0].length >> 1;
    run.metrics = whole.map((cells) => cells.slice(0, half));
    Object.assign(run, { status: 'running', last: null, iterations: run.metrics[0][half - 1] });
    return whole[0].slice(half).map((_, row) => whole.map((cells) => cells[half + row]));
  });
  return { report, rest };
}

async function served(make = begun) {
  const { report, rest } = make();
  const server = new LiveServer(report);
  await server.start();
  const opened = await open(server.url, { served: true });
  const state = (name) => opened.page.locator(`.live[data-state=${name}]`).waitFor();
  return { server, rest, state, ...opened,
    end: async () => { await opened.close(); await server.stop(); } };
}

const csvRows = async (page) => (await saved(page, panelAt(page, 0).locator('[data-save=csv]')))
  .bytes.toString().trim().split('\n').length - 1;

test('rows arrive in panels and table while zoom and choices stay', async () => {
  const { page, server, rest, state, end } = await served();
  await state('live');
  await settled(page);
  const before = await csvRows(page);
  const full = await dataset(page, 0);
  await page.locator('.run').nth(1).click();
  await page.selectOption('#panel-2-y', 'loss_mean');
  await panelAt(page, 4).locator('.stage').focus();
  await page.keyboard.press('+');
  const zoomed = await dataset(page, 4);
  assert.equal(zoomed.zoomed, 'true');
  const drawn = await pixels(page, 1);
  await page.locator('#list-search').focus();
  server.rows(0, rest[0].slice(0, 5));
  server.rows(1, rest[1].slice(0, 3));
  const iterations = String(rest[0][4][0]);
  await page.waitForFunction((words) => document.querySelector('.summary tbody tr').textContent.includes(words),
    iterations);
  assert.notEqual((await pixels(page, 1)).hash, drawn.hash, 'the curves grew');
  const after = await dataset(page, 4);
  assert.deepEqual([after.xMin, after.xMax], [zoomed.xMin, zoomed.xMax]);
  assert.equal((await dataset(page, 2)).metric, 'loss_mean');
  assert.equal(await page.locator('.run').nth(1).getAttribute('aria-pressed'), 'false');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'list-search');
  await page.locator('.reset-all').click();
  assert.ok(Number((await dataset(page, 0)).xMax) > Number(full.xMax), 'the axis follows the new rounds');
  await page.locator('.run').nth(1).click();
  assert.equal(await csvRows(page), before + 5 + 3);
  assert.equal(server.asked.report, 0, 'rows that follow need no report');
  await end();
});

test('rows that do not follow bring the whole report', async () => {
  const { page, server, rest, state, end } = await served();
  await state('live');
  await settled(page);
  const before = await csvRows(page);
  // The client misses these.
  server.report.runs[0].metrics.forEach((cells, c) => cells.push(...rest[0].slice(0, 4).map((row) => row[c])));
  server.rows(0, rest[0].slice(4, 6));
  await page.waitForFunction((words) => document.querySelector('.summary tbody tr').textContent.includes(words),
    String(rest[0][5][0]));
  assert.equal(await csvRows(page), before + 6);
  assert.equal(server.asked.report, 1);
  await end();
});

test('a run appears, another ends, and at last nothing runs', async () => {
  const { page, server, rest, state, end } = await served();
  await state('live');
  await page.locator('.run').first().click();
  const third = structuredClone(server.report.runs[1]);
  server.report.runs.push({ ...third, label: 'a third run', folder: 'third' });
  server.send('report', server.report);
  await page.locator('.run', { hasText: 'a third run' }).waitFor();
  assert.equal(await page.locator('.run').first().getAttribute('aria-pressed'), 'false', 'stays hidden');
  assert.equal(await page.locator('.config').count(), 3);
  server.rows(1, rest[1], { status: 'finished', last: { iteration: 1400, loss: new Array(10).fill(0.5) } });
  await page.waitForFunction(() => document.querySelectorAll('.run .status').length === 2);
  server.send('end', {});
  await state('ended');
  assert.match(await page.locator('.live').textContent(), /ended/);
  await end();
});

test('a lost connection is said, tried again, and made up for', async () => {
  const { page, server, rest, state, end } = await served();
  await state('live');
  await settled(page);
  await server.stop();
  await state('lost');
  assert.match(await page.locator('.live').textContent(), /lost, tries again/);
  server.report.runs[0].metrics.forEach((cells, c) => cells.push(...rest[0].map((row) => row[c])));
  Object.assign(server.report.runs[0], { status: 'finished', iterations: 1400 });
  await server.start();
  await state('live');
  assert.ok(server.asked.events >= 2);
  await page.waitForFunction((words) => document.querySelector('.summary tbody tr').textContent.includes(words),
    '1400');
  await end();
});

const siteAt = (name, round, more = {}) => ({ name, up: true, state: 'running', round, iterations: 1400,
  epoch: 1, resent_bytes: 250000, peers: [
    { name: 'x', connected: true, sent_bytes: 1e6, received_bytes: 2e6 },
    { name: 'y', connected: false, sent_bytes: 0, received_bytes: 0 }], ...more });

test('sites show who is up, who waits for whom, and what they have sent', async () => {
  const { page, server, state, end } = await served(() => {
    const { report, rest } = begun();
    return { report: { ...report, sites: [siteAt('berlin', 12), siteAt('<b>laptop', 12)] }, rest };
  });
  await state('live');
  const rows = page.locator('#sites tbody tr');
  const words = (index) => rows.nth(index).locator('th, td').allTextContents();
  assert.deepEqual(await words(0), ['berlin', 'running', '', '12 of 1400', '1', '1 of 2', '8', '16', '2']);
  assert.equal((await words(1))[0], '<b>laptop');
  assert.ok(await page.locator('nav a[href="#sites"]').isVisible());
  server.send('sites', [siteAt('berlin', 14, { state: 'waiting', waiting: { site: 'laptop', seconds: 64.2 } }),
    siteAt('laptop', 13, { up: false })]);
  await page.getByText('laptop, 1:04').waitFor();
  assert.deepEqual((await words(1)).slice(0, 4), ['laptop', 'down', '', '13 of 1400']);
  assert.equal(server.asked.report, 0, 'a table of sites needs no report');
  server.send('sites', []);
  await page.locator('#sites').waitFor({ state: 'hidden' });
  await end();
});

test('a page that is opened before the first run fills itself', async () => {
  const { page, server, state, end } = await served(() => {
    const { report, rest } = begun();
    return { report: { ...report, runs: [] }, rest };
  });
  await state('live');
  await page.getByText('No run has logged a row yet.').waitFor();
  const runs = begun().report.runs;
  server.report.runs = runs.map((run) => ({ ...run, metrics: run.metrics.map(() => []) }));
  server.send('report', server.report);
  await page.getByText('2 runs').waitFor();
  server.report.live.missing = ['later: the run has not begun'];
  server.send('report', server.report);
  await page.getByText('later: the run has not begun').waitFor();
  assert.equal(await page.locator('.panel').count(), 0);
  const rows = runs[0].metrics[0].map((_, row) => runs[0].metrics.map((cells) => cells[row]));
  server.rows(0, rows);
  await page.locator('.panel').first().waitFor();
  assert.equal(await page.locator('.run').count(), 2);
  assert.ok((await pixels(page, 0)).coloured > 100);
  await end();
});
