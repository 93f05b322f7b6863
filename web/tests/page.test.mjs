// The page in a real browser: node tests/page.test.mjs [REPORT.html [COMPARE_DIR]] [--screenshots DIR]
// Without a report it makes one from sample.mjs. With COMPARE_DIR the hovered values are compared
// with the metrics.csv files there, otherwise with the data inside the page.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { hasChromium } from './browser.mjs';
import { artefacts, templatePath, writePage } from './fill.mjs';
import { closeBrowser, dataset, heightOf, open as openPage, panelAt, pixels, plotBox, pointsIn,
  readings, seriousFindings, settled } from './opened.mjs';
import { sampleReport } from './sample.mjs';

if (!hasChromium()) {
  console.log('skipped: no chromium');
  process.exit(77);
}

const { values: flags, positionals } = parseArgs({ allowPositionals: true,
  options: { screenshots: { type: 'string' } } });
const screenshots = resolve(flags.screenshots ?? artefacts);
mkdirSync(screenshots, { recursive: true });
const reportPath = positionals[0] ? resolve(positionals[0])
  : writePage(join(artefacts, 'sample.html'), JSON.stringify(sampleReport()));
const compareDir = positionals[1] ? resolve(positionals[1]) : null;
const address = pathToFileURL(reportPath).href;
const report = JSON.parse(/id="ticopd-report">(.*?)<\/script>/s.exec(readFileSync(reportPath, 'utf8'))[1]);

/** Cells as numbers; what a plot cannot show (empty, nan, inf) is NaN. */
function columnOf(run, name) {
  const place = report.columns.indexOf(name);
  if (!compareDir) return run.metrics[place].map((v) => (typeof v === 'number' ? v : NaN));
  const lines = readFileSync(join(compareDir, run.folder, 'metrics.csv'), 'utf8').trim().split(/\r?\n/);
  const at = lines[0].split(',').indexOf(name);
  return lines.slice(1).map((line) => (line.split(',')[at] === '' ? NaN : Number(line.split(',')[at])));
}

// Two tests fill the template themselves; a report alone can be tested without it.
const skip = existsSync(templatePath) ? false : 'dist/index.html is not built';
after(closeBrowser);
const open = (options) => openPage(address, options);

/** The shown points of a run that stand at least `apart` pixels from their neighbours. */
function pointsOf(run, data, width, apart) {
  const shown = pointsIn(data, columnOf(run, data.x), columnOf(run, data.metric), width);
  return shown.filter((p, i) => (i === 0 || p.at - shown[i - 1].at >= apart) &&
    (i === shown.length - 1 || shown[i + 1].at - p.at >= apart));
}

async function checkHover(page, index) {
  const box = await plotBox(page, index);
  const data = await dataset(page, index);
  let compared = 0;
  for (const number of [0, Math.floor(report.runs.length / 2), report.runs.length - 1]) {
    const run = report.runs[number];
    const points = pointsOf(run, data, box.width, 4);
    for (const point of [points[0], points[points.length >> 1], points[points.length - 1]]) {
      if (!point) continue;
      // The box holds the runs nearest to the cursor: it is put on the point itself.
      await page.mouse.move(box.x + Math.min(box.width - 1, Math.max(1, point.at)),
        box.y + box.height * Math.min(0.995, Math.max(0.005, heightOf(data, point.y))));
      const row = (await readings(page, index)).find((r) => r.run === number);
      assert.ok(row, `no reading of ${run.label} in ${data.metric}`);
      assert.equal(Number(row.x), point.x, `${run.label}, ${data.x}`);
      assert.equal(Number(row.y), point.y, `${run.label}, ${data.metric}`);
      assert.ok(row.text.includes(run.label));
      compared += 1;
    }
  }
  return compared;
}

test('the page loads from a file, asks for nothing else, and all panels are drawn', async () => {
  const { page, close } = await open();
  assert.equal(await page.locator('h1').textContent(), report.title);
  assert.equal(await page.locator('.summary tbody tr').count(), report.runs.length);
  assert.equal(await page.locator('.panel').count(), 8);
  for (let i = 0; i < 8; i += 1) {
    const { drawn } = await pixels(page, i);
    assert.ok(drawn > 1500, `panel ${i} has ${drawn} drawn pixels`);
  }
  await close();
});

test('hovered values are the logged ones', async () => {
  const { page, close } = await open();
  let compared = 0;
  for (let i = 0; i < 8; i += 1) compared += await checkHover(page, i);
  await page.selectOption('#x-left', 'seconds');
  await page.locator('#x-left-log').uncheck();
  compared += await checkHover(page, 0);
  assert.ok(compared >= 16, `${compared} values compared`);
  await page.mouse.move(2, 2);
  assert.equal((await readings(page, 0)).length, 0);
  await close();
});

test('toggling a run changes what is drawn and read', async () => {
  const { page, close } = await open();
  const before = await pixels(page, 0);
  const box = await plotBox(page, 0);
  const read = async () => {
    await page.mouse.move(2, 2);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const others = await panelAt(page, 0).locator('.readout .more').textContent();
    return (await readings(page, 0)).length + Number(/\d+/.exec(others)?.[0] ?? 0);
  };
  const all = await read();
  const button = page.locator('.run').first();
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await button.focus();
  await page.keyboard.press('Space');
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  assert.notEqual((await pixels(page, 0)).hash, before.hash);
  assert.equal(await read(), all - 1);
  await page.locator('[data-show=none]').click();
  await page.getByText('No run is shown.').first().waitFor();
  assert.ok(before.coloured > 100, `${before.coloured} coloured pixels`);
  assert.equal((await pixels(page, 0)).coloured, 0, 'a hidden run leaves nothing behind');
  await page.locator('[data-show=all]').click();
  assert.equal((await pixels(page, 0)).hash, before.hash);
  await close();
});

test('switching the x axis changes its words, its range and the drawing', async () => {
  const { page, close } = await open();
  const seen = new Set();
  for (const column of ['bits_paper', 'bits_payload', 'seconds', 'iteration']) {
    await page.selectOption('#x-left', column);
    const data = await dataset(page, 0);
    assert.equal(data.x, column);
    seen.add([await panelAt(page, 0).locator('.stage').getAttribute('aria-label'), data.xMax,
      (await pixels(page, 0)).hash].join());
    assert.equal((await dataset(page, 1)).x, 'bits_payload', 'the right column keeps its own axis');
  }
  assert.equal(seen.size, 4);
  const log = await dataset(page, 0);
  await page.locator('#x-left-log').uncheck();
  const linear = await dataset(page, 0);
  assert.ok(Number(log.xMin) > 0 && Number(linear.xMin) <= 0, 'round 0 shows on the linear axis');
  await close();
});

test('dragging zooms, and the button, a double click and a key bring everything back', async () => {
  const { page, close } = await open();
  const full = await dataset(page, 2);
  const drag = async () => {
    const box = await plotBox(page, 2);
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2 + 4, { steps: 5 });
    await page.mouse.up();
    const data = await dataset(page, 2);
    assert.ok(Number(data.xMin) > Number(full.xMin) && Number(data.xMax) < Number(full.xMax));
    return box;
  };
  const same = async () => assert.deepEqual(await dataset(page, 2), full);
  await drag();
  await panelAt(page, 2).locator('.reset').click();
  await same();
  const box = await drag();
  await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
  await same();
  await drag();
  await panelAt(page, 2).locator('.stage').focus();
  await page.keyboard.press('0');
  await same();
  await page.keyboard.press('+');
  assert.equal((await dataset(page, 2)).zoomed, 'true');
  await page.locator('.reset-all').click();
  await same();
  await close();
});

test('arrow keys move the readout along a run and from run to run', async () => {
  const { page, close } = await open();
  const data = await dataset(page, 0);
  const points = pointsOf(report.runs[0], data, 1, -1);
  await panelAt(page, 0).locator('.stage').focus();
  const xs = [];
  for (let i = 0; i < 5; i += 1) {
    await page.keyboard.press('ArrowRight');
    xs.push(Number((await readings(page, 0)).find((row) => row.run === 0).x));
  }
  await page.keyboard.press('ArrowLeft');
  assert.deepEqual(xs, points.slice(0, 5).map((point) => point.x));
  assert.equal(Number((await readings(page, 0)).find((row) => row.run === 0).x), xs[3]);
  assert.ok((await page.locator('#curves [role=status]').textContent()).startsWith(report.runs[0].label));
  if (report.runs.length > 1) {
    await page.keyboard.press('ArrowDown');
    const near = panelAt(page, 0).locator('.readout .near');
    assert.equal(await near.getAttribute('data-run'), '1');
  }
  await page.keyboard.press('Escape');
  assert.equal((await readings(page, 0)).length, 0);
  await close();
});

test('the copy button copies the configuration, with and without the clipboard interface', async () => {
  const { page, close } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
  const details = page.locator('.config').first();
  const copied = async () => {
    await page.evaluate(() => navigator.clipboard.writeText('before'));
    await details.locator('.copy').click();
    await details.getByText('copied').waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  await details.locator('summary').click();
  assert.equal(await details.locator('pre').textContent(), report.runs[0].toml);
  assert.equal(await copied(), report.runs[0].toml);
  await page.reload();
  await details.locator('summary').click();
  // The refusal that some browsers give to pages from file://.
  await page.evaluate(() => navigator.clipboard.writeText('before'));
  await page.evaluate(() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); });
  await details.locator('.copy').click();
  await details.getByText('copied').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), report.runs[0].toml);
  await close();
});

test('the network shows every agent of the chosen run', async () => {
  const { page, close } = await open();
  const number = report.runs.findIndex((run) => run.last);
  const withoutLast = report.runs.findIndex((run) => !run.last && !run.history);
  if (number >= 0) {
    await page.locator('#network summary').click();
    await page.selectOption('#network-run', String(number));
    await page.selectOption('#network-metric', 'grad_norm2');
    const run = report.runs[number];
    assert.match(await page.locator('#network .note').first().textContent(),
      new RegExp(`of ${run.agents} agents with ${run.edges.length} links`));
    assert.equal(await page.locator('#network tbody tr').count(), run.agents);
    await page.locator('.drawing').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.locator('.agent-said').textContent(), /^agent 1: squared gradient norm/);
    const cell = page.locator('#network tbody tr').nth(1).locator('td').nth(1);
    assert.equal(Number(await cell.getAttribute('title')), run.last.grad_norm2[1]);
  }
  if (withoutLast >= 0) {
    await page.selectOption('#network-run', String(withoutLast));
    await page.getByText('no values of single agents').waitFor();
  }
  await close();
});

test('the theme follows the system and the button changes it', async () => {
  const { page, close } = await open({ colorScheme: 'dark' });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [dark, drawn] = [await paper(), await pixels(page, 0)];
  await page.locator('.theme').click();
  assert.notEqual(await paper(), dark);
  assert.notEqual((await pixels(page, 0)).hash, drawn.hash);
  await close();
});

// Only colours differ between light and dark.
for (const [name, options, rules] of [['light', {}], ['dark', { colorScheme: 'dark' }, ['color-contrast']],
  ['phone', { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }]]) {
  test(`no serious accessibility finding, no sideways scrolling: ${name}`, async () => {
    const { page, close } = await open(options);
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(sideways <= 0, `${sideways} px too wide`);
    await page.screenshot({ path: join(screenshots, `report-${name}.png`), fullPage: true });
    const box = await plotBox(page, 0);
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5);
    await page.screenshot({ path: join(screenshots, `report-${name}-hover.png`) });
    await page.locator('.config summary').first().click();
    assert.deepEqual(await seriousFindings(page, rules), []);
    await close();
  });
}

if (!skip) {
  await import('./interactions.mjs');
  await import('./live.mjs');
}

test('a page without a report says so', { skip }, async () => {
  for (const [data, words] of [['"TICOPD_REPORT"', /empty template/], ['{"format": 1,', /not JSON/],
    ['{"format": 7}', /format 7/]]) {
    const path = writePage(join(artefacts, 'no-report.html'), data);
    const { page, close } = await openPage(pathToFileURL(path).href);
    assert.match(await page.locator('[role=alert]').textContent(), words);
    await close();
  }
});

test('runs without accuracy, values or agents are shown as far as they go', { skip }, async () => {
  const odd = sampleReport({ accuracy: false });
  odd.runs = odd.runs.slice(0, 3);
  odd.runs[1].metrics = odd.columns.map(() => []);
  Object.assign(odd.runs[1], { rate: null, last: null, agents: 0, edges: [] });
  odd.runs[2].metrics = odd.runs[2].metrics.map((cells) => cells.map(() => 'nan'));
  odd.runs[2].label = '</script><b>no markup</b>';
  const path = writePage(join(artefacts, 'odd.html'), JSON.stringify(odd));
  const { page, close } = await openPage(pathToFileURL(path).href);
  await settled(page);
  assert.equal(await panelAt(page, 7).getAttribute('data-metric'), 'loss_mean');
  assert.ok((await pixels(page, 7)).drawn > 500);
  await page.locator('.run').first().click();
  await page.selectOption('#network-run', '1');
  assert.equal(await page.locator('.run').nth(2).locator('.run-label').textContent()
    .then((label) => label.startsWith(odd.runs[2].label)), true);
  await close();
});
