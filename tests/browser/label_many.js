/*
 * label_many.js - a hundred thousand items on the labelling page: the grid is scrolled from end to
 * end, and holds no more cells than fit on the screen.
 *
 *     node label_many.js ADDRESS
 */
'use strict';
const assert = require('assert');
const { chromium } = require('playwright-core');

(async () => {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'] });
  const page = await browser.newPage({ viewport: { width: 1200, height: 780 } });
  await page.goto(process.argv[2]);
  await page.waitForSelector('#subject pre');
  await page.click('#tab-grid');
  await page.selectOption('#view', 'all');
  await page.waitForFunction(() => document.getElementById('shown').textContent.startsWith('100000'));
  const seen = new Set();
  for (let part = 0; part <= 20; part++) {
    await page.evaluate(share => { const box = document.getElementById('cells'); box.scrollTop = share * box.scrollHeight; }, part / 20);
    await page.waitForTimeout(100);
    const cells = await page.locator('.cell').evaluateAll(all => all.map(cell => cell.dataset.item));
    assert.ok(cells.length > 5 && cells.length < 200, `${cells.length} cells`);
    cells.forEach(item => seen.add(item));
  }
  assert.ok(seen.has('0') && seen.has('99999'));
  /* The longest that anything kept the page from drawing while it scrolled on. */
  const longest = await page.evaluate(() => new Promise(done => {
    const box = document.getElementById('cells');
    let last = performance.now(), worst = 0, frames = 0;
    const step = now => {
      worst = Math.max(worst, now - last);
      last = now;
      box.scrollTop = (frames % 2 ? 1 : 0.5) * box.scrollHeight * (frames / 120);
      if (++frames < 120) requestAnimationFrame(step); else done(worst);
    };
    requestAnimationFrame(step);
  }));
  console.log(`100000 items; the longest frame took ${longest.toFixed(0)} ms`);
  await browser.close();
})().catch(fault => { console.error(fault); process.exit(1); });
