/*
 * label.js - an afternoon at the labelling page, in small and in a real browser: every interaction
 * by mouse and by keyboard. It looks at what the page shows and at what the server has then.
 *
 *     node label.js ADDRESS [FOLDER-FOR-SCREENSHOTS]
 *
 * The pile has drawings below folders whose names are the truth.
 */
'use strict';
const assert = require('assert');
const { chromium } = require('playwright-core');

const [address, folder] = process.argv.slice(2);
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

(async () => {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
  const page = await browser.newPage({ viewport: { width: 1200, height: 780 } });
  const outside = [], faults = [];
  page.on('request', request => { if (!request.url().startsWith(address)) outside.push(request.url()); });
  page.on('pageerror', error => faults.push(error.message));
  page.on('console', message => { if (message.type() === 'error') faults.push(message.text()); });

  const state = async () => (await page.request.get(address + 'state')).json();
  const shot = async name => { if (folder) { await page.waitForTimeout(600); await page.screenshot({ path: `${folder}/${name}.png` }); } };
  const until = async (what, condition) => {
    for (let k = 0; k < 200; k++) {
      if (await condition(await state())) return;
      await page.waitForTimeout(50);
    }
    assert.fail(`waited in vain for ${what}`);
  };
  /* What was done is done when the page shows the server's revision. */
  const answered = async count => {
    await until(`${count} answers`, s => s.answered === count);
    await page.waitForFunction(n => document.getElementById('progress').textContent.startsWith(`${n} of`), count);
  };
  const truth = async () => (await page.textContent('#subject-name')).split('/')[0];
  const type = async name => { await page.keyboard.press('/'); await page.keyboard.type(name); await page.keyboard.press('Enter'); };

  await page.goto(address);
  await page.waitForSelector('#subject img');
  let count = (await state()).answered;

  /* Questions: typed, by key, accepted; they go on by themselves. */
  for (let k = 0; k < 8; k++) { await type(await truth()); await answered(++count); }
  const first = (await state()).classes[1].name;
  await page.keyboard.press('1');
  await answered(++count);
  assert.strictEqual((await state()).history[0].class, first);
  await page.keyboard.press('a');
  await answered(++count);
  await page.keyboard.press('x');
  await answered(++count);
  assert.strictEqual((await state()).history[0].change, 'none');
  await page.keyboard.press('u');
  await answered(--count);
  await page.keyboard.press('Control+z');
  await answered(--count);
  const before = (await state()).question.item;
  await page.keyboard.press('s');
  await until('another question', s => s.question.item !== before);
  await page.waitForTimeout(200);
  await page.keyboard.press('ArrowRight');
  await until('a third question', s => s.history[1].change === 'skip');
  await page.click('#guesses button');
  await answered(++count);
  for (let k = 0; k < 6; k++) { await type(await truth()); await answered(++count); }
  await shot('labelling-ask');

  /* The whole group of a question. */
  await page.keyboard.press('g');
  await page.waitForTimeout(100);
  await page.keyboard.press('Escape');
  await type(await truth());
  await until('a group', s => s.history[0].count > 1 || s.answered > count);
  count = (await state()).answered;

  /* History: an answer is shown again and mended. */
  await page.click('#history button');
  await page.waitForSelector('.cell[aria-selected=true]');
  await type('mended <b>kind</b>');
  await until('a mended answer', s => s.classes.some(kind => kind.name === 'mended <b>kind</b>'));
  assert.strictEqual(await page.locator('#kinds b').count(), 0); /* text, not markup */
  await page.keyboard.press('u');
  count = (await state()).answered;

  /* Groups: named as a whole, split, merged. */
  await page.click('#tab-groups');
  await page.waitForSelector('.card img');
  await shot('labelling-groups');
  const groups = (await state()).groups;
  await page.click('.card >> nth=0 >> text=Split');
  await until('more groups', s => s.groups > groups);
  const more = (await state()).groups;
  await page.waitForTimeout(500);
  await page.click('.card input[type=checkbox] >> nth=0');
  await page.click('.card input[type=checkbox] >> nth=1');
  await page.click('#merge');
  await until('fewer groups', s => s.groups < more);
  await page.waitForTimeout(500);
  await page.fill('.card input[type=text] >> nth=2', 'a whole group');
  await page.keyboard.press('Enter');
  await until('a named group', s => s.history[0].class === 'a whole group' && s.history[0].count > 1);
  await page.keyboard.press('u');
  count = (await state()).answered;

  /* The grid: click, ranges, frames, keys; one name for many. */
  await page.click('#tab-grid');
  await page.waitForSelector('.cell img');
  const chosen = async () => +(await page.textContent('#selected-count'));
  await page.click('.cell >> nth=1');
  assert.strictEqual(await chosen(), 1);
  await page.click('.cell >> nth=5', { modifiers: ['Shift'] });
  assert.strictEqual(await chosen(), 5);
  await page.click('.cell >> nth=3', { modifiers: ['Control'] });
  assert.strictEqual(await chosen(), 4);
  const box = await page.locator('.cell >> nth=8').boundingBox();
  await page.mouse.move(box.x + 8, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 200, box.y + 60, { steps: 5 });
  await page.waitForSelector('#frame');
  await page.mouse.up();
  assert.ok(await chosen() >= 2);
  await page.keyboard.press('Escape');
  assert.strictEqual(await chosen(), 0);
  await page.focus('#cells');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  assert.strictEqual(await chosen(), 2);
  await page.check('input[value=add]');
  await page.click('.cell >> nth=7');
  assert.strictEqual(await chosen(), 3);
  await page.check('input[value=take]');
  await page.click('.cell >> nth=7');
  assert.strictEqual(await chosen(), 2);
  await page.check('input[value=meet]');
  await page.click('.cell >> nth=7');
  assert.strictEqual(await chosen(), 0);
  await page.check('input[value=replace]');
  await page.click('.cell >> nth=2');
  await page.click('.cell >> nth=6', { modifiers: ['Shift'] });
  await shot('labelling-all');
  const order = await page.locator('.cell').evaluateAll(cells => cells.map(cell => cell.dataset.item + ':' + cell.dataset.place).sort());
  await page.focus('#cells');
  await page.keyboard.press('1');
  await until('five named at once', s => s.history[0].count === 5);
  await page.waitForSelector('#refresh:visible');
  const after = await page.locator('.cell').evaluateAll(cells => cells.map(cell => cell.dataset.item + ':' + cell.dataset.place).sort());
  assert.deepStrictEqual(after, order); /* nothing is shuffled away under the hand */
  count = (await state()).answered;

  /* More like these, refined by yes and no. */
  await page.click('.cell >> nth=9');
  await page.focus('#cells');
  await page.keyboard.press('m');
  await page.waitForSelector('#yes:visible');
  await page.click('.cell >> nth=0');
  await page.focus('#cells');
  await page.keyboard.press('y');
  await page.waitForTimeout(300);
  await page.click('.cell >> nth=4');
  const refused = await page.getAttribute('.cell >> nth=4', 'data-item');
  await page.focus('#cells');
  await page.keyboard.press('n');
  await page.waitForTimeout(300);
  const kept = await page.locator('.cell').evaluateAll(cells => cells.map(cell => cell.dataset.item));
  assert.ok(!kept.includes(refused));

  /* The map: a lasso, whose counts follow. */
  await page.click('#tab-map');
  await page.waitForTimeout(500);
  const plane = await page.locator('#plane').boundingBox();
  const ring = [[.3, .3], [.7, .3], [.7, .7], [.3, .7]];
  await page.mouse.move(plane.x + .3 * plane.width, plane.y + .3 * plane.height);
  await page.mouse.down();
  for (const [x, y] of ring) await page.mouse.move(plane.x + x * plane.width, plane.y + y * plane.height, { steps: 4 });
  await shot('labelling-map');
  await page.mouse.up();
  const lassoed = await chosen();
  assert.ok(lassoed > 0);
  const counts = (await page.locator('#legend div').allTextContents()).map(text => +text.split(' ').pop());
  assert.strictEqual(counts.reduce((a, b) => a + b, 0), lassoed);

  /* Rename, the help, and an export of the selection. */
  page.once('dialog', dialog => dialog.accept('renamed'));
  await page.click('#kinds li:nth-child(2) >> text=✎');
  await until('a new name', s => s.classes[1].name === 'renamed');
  await page.keyboard.press('?');
  assert.ok(await page.isVisible('#help'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('e');
  await page.fill('#to', folder ? `${folder}/selection.csv` : 'selection.csv');
  await page.check('#only-selected');
  await page.click('#exporting >> text=Write');
  await page.waitForFunction(() => document.getElementById('export-result').textContent.startsWith('Written'));
  await page.click('#close-export');

  /* A second window: what one answers the other shows; an answer to an old question is refused. */
  const second = await browser.newPage({ viewport: { width: 1024, height: 768 } });
  await second.goto(address);
  await second.waitForSelector('#subject img');
  await page.click('#tab-ask');
  await page.waitForTimeout(300);
  const both = (await state()).answered;
  await page.keyboard.press('1');
  await until('an answer', s => s.answered === both + 1);
  await second.waitForFunction(n => document.getElementById('progress').textContent.startsWith(`${n} of`), both + 1);

  assert.deepStrictEqual(outside, [], 'requests that left the page');
  assert.deepStrictEqual(faults.filter(text => !text.includes('409')), []);
  await browser.close();
  console.log('every interaction works');
})().catch(fault => { console.error(fault); process.exit(1); });
