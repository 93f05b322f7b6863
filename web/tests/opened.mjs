// A report opened in the browser, and what a test asks of it.
import assert from 'node:assert/strict';
import axe from 'axe-core';
import { launch } from './browser.mjs';

let browser = null;

export async function closeBrowser() {
  await browser?.close();
}

// Pages that wait for their next test, by the options of their context: to navigate costs half as
// much as to make a context and a page.
const idle = new Map();

async function newPage(options) {
  browser ??= await launch();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 },
    colorScheme: 'light', reducedMotion: 'reduce', ...options });
  const watched = { page: await context.newPage(), isOwn: () => true, isGone: () => false, trouble: [] };
  const { page } = watched;
  const note = (text) => watched.trouble.push(text);
  page.on('request', (request) => { if (!watched.isOwn(request.url())) note(`request ${request.url()}`); });
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !watched.isGone(text)) note(text);
  });
  page.on('pageerror', (error) => note(error.stack));
  return watched;
}

/**
 * A page that fails the test on any request but its own file, and on any error it reports. A served
 * page may ask its own server, and finds it gone in some tests: `served` allows for both.
 */
export async function open(url, { served = false, ...options } = {}) {
  const key = JSON.stringify(options);
  const watched = idle.get(key)?.pop() ?? await newPage(options);
  const { page, trouble } = watched;
  watched.isOwn = (asked) => asked === url || /^(blob|data|about):/.test(asked) ||
    (served && new URL(asked).origin === new URL(url).origin);
  watched.isGone = (text) => served && /net::ERR_|status of 50[0-9]/.test(text);
  await page.goto(url);
  const close = async () => {
    await page.evaluate(() => localStorage.clear());
    await page.mouse.move(0, 0);
    await page.goto('about:blank');
    assert.deepEqual(trouble, []);
    idle.set(key, [...idle.get(key) ?? [], watched]);
  };
  return { page, trouble, close };
}

/** Waits until every panel is drawn: those out of sight take their turn. */
export const settled = (page) => page.waitForFunction(() =>
  document.querySelector('#curves')?.dataset.busy === 'false');

/**
 * What axe finds serious or critical. Rows of a long table are alike: the first ten stand for all,
 * since contrast is measured element by element.
 */
export async function seriousFindings(page, rules) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate((only) => window.axe.run(
    { include: [['html']], exclude: [['tbody tr:nth-child(n + 11)']] },
    { resultTypes: ['violations'], ...(only ? { runOnly: { type: 'rule', values: only } } : {}) }), rules);
  return violations.filter((v) => ['serious', 'critical'].includes(v.impact))
    .map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' | ')}`);
}

export const panelAt = (page, index) => page.locator('.panel').nth(index);

/** How many pixels of a panel's canvas are drawn, how many by curves (axes are grey), and a hash. */
export async function pixels(page, index) {
  await settled(page);
  return panelAt(page, index).locator('.u-wrap > canvas').evaluate((canvas) => {
    // Read from a copy: reading from the page's own canvas would change how the browser keeps it.
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let [drawn, coloured, hash] = [0, 0, 0];
    for (let i = 0; i < data.length; i += 4) {
      const [red, green, blue, alpha] = data.subarray(i, i + 4);
      if (alpha > 0) drawn += 1;
      if (alpha > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) coloured += 1;
      hash = (Math.imul(hash, 31) + red * 7 + green * 3 + blue + alpha) | 0;
    }
    return { drawn, coloured, hash };
  });
}

export async function dataset(page, index) {
  await settled(page);
  return panelAt(page, index).evaluate((element) => ({ ...element.dataset }));
}

/** What a click on a button hands over as a file. */
export async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const parts = [];
  for await (const part of await download.createReadStream()) parts.push(part);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(parts) };
}

export async function readings(page, index) {
  return panelAt(page, index).locator('.readout tbody tr').evaluateAll((rows) => rows.map((row) =>
    ({ run: Number(row.dataset.run), x: row.dataset.x, y: row.dataset.y, text: row.textContent })));
}

/** Where a value lies along an axis of the panel, from 0 to 1. */
function share(value, min, max, log) {
  const place = log === 'true' ? Math.log : (v) => v;
  return (place(value) - place(Number(min))) / (place(Number(max)) - place(Number(min)));
}

/** How far below the top of the frame a value lies, from 0 to 1. */
export const heightOf = (data, y) => 1 - share(y, data.yMin, data.yMax, data.logY);

export async function plotBox(page, index) {
  const over = panelAt(page, index).locator('.u-over');
  await over.scrollIntoViewIfNeeded();
  await settled(page);
  return over.boundingBox();
}

/** The points that a panel shows of one run, with their distance in pixels from its left edge. */
export function pointsIn(data, xs, ys, width) {
  return xs.map((x, i) => ({ x, y: ys[i] })).filter((p) => Number.isFinite(p.x) &&
    Number.isFinite(p.y) && (data.logX !== 'true' || p.x > 0) && (data.logY !== 'true' || p.y > 0))
    .map((p) => ({ ...p, at: width * share(p.x, data.xMin, data.xMax, data.logX) }));
}
