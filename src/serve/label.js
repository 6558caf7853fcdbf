/* label.js - the labelling page. All that it shows comes from the server beside it; names are put
 * in as text, never as markup. */
'use strict';

const $ = id => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const cut = (text, length) => text.length <= length ? text
  : text.slice(0, length / 2 | 0) + '…' + text.slice(text.length - (length / 2 | 0));
const hue = c => c === UNKNOWN ? '#888' : c === 0 ? '#666' : `hsl(${(c * 137.5) % 360} 70% 50%)`;

const UNKNOWN = 65535, ANSWERED = 1, GONE = 2, CHANGED = 4;
let state = null;              // as the server sends it
let labels = new Uint8Array(); // four bytes per item: class, class, flags, certainty
let selected = new Set();
let current = 'ask';           // the view
let wholeGroup = false;        // the next name is for the question's whole group
let stale = false;             // the list is not in the current order

const classOf = i => labels[4 * i] | labels[4 * i + 1] << 8;
const flagsOf = i => labels[4 * i + 2];
const sureOf = i => labels[4 * i + 3] / 255;
const nameOf = c => c === UNKNOWN ? '' : state.classes[c] ? state.classes[c].name : '';
const pictures = () => state.kind === 'pictures';
const pictureOf = (item, side) => `picture?item=${item}&side=${side}`;

/* ---- the server ---- */

function complain(sentence, again) {
  const message = $('message');
  message.replaceChildren(sentence + ' ');
  if (again) message.append(make('button', { textContent: 'Try again', onclick: again }));
  message.hidden = false;
}

async function ask(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error((await response.json()).error);
  return response;
}

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  if (!response.ok) {
    const fault = new Error((await response.json()).error);
    fault.status = response.status;
    throw fault;
  }
  return response;
}

/* Sends a change; if the server could not save it, offers to try again. */
async function change(what) {
  try {
    const response = await post('change', { ...what, revision: state.revision });
    $('message').hidden = true;
    await show(await response.json());
    if (state.moved) tell(`${state.moved} guesses changed`);
  } catch (fault) {
    if (fault.status === 409) { complain(fault.message); await refresh(); }
    else complain(`Not saved: ${fault.message || 'the program does not answer'}.`, () => change(what));
  }
}

async function refresh() {
  await show(await (await ask('state')).json());
}

async function loadLabels() {
  labels = new Uint8Array(await (await ask('labels')).arrayBuffer());
}

/* Another window may have answered. */
setInterval(async () => {
  if (document.hidden || !state) return;
  try {
    const now = await (await ask('state')).json();
    if (now.revision !== state.revision) await show(now);
  } catch { complain('The program has ended; start it again to continue. All answers are saved.'); }
}, 2000);

/* ---- shared by all views ---- */

let told = '';
function tell(text) { told = text; drawProgress(); }

function drawProgress() {
  const e = state.estimate, percent = x => (100 * x).toFixed(0);
  let text = `${state.answered} of ${state.items} named. `;
  text += e.right === null ? `${e.needed - e.drawn} more random questions until there is an estimate.`
    : `If you stop now: about ${percent(e.right)}% right (between ${percent(e.least)} and ${percent(e.most)}).`;
  if (state.gone) text += ` ${state.gone} are gone.`;
  if (state.changed) text += ` ${state.changed} changed since they were named.`;
  $('progress').textContent = text + (told ? ' ' + told : '');
}

function drawKinds() {
  const list = $('kinds');
  list.replaceChildren(...state.classes.map((kind, c) => {
    const key = c > 0 && c < 10 ? String(c) : c === 0 ? 'x' : '';
    const button = make('button', { className: 'kind', title: `${kind.name}: ${kind.answered} named, ${kind.guessed} guessed`,
      onclick: () => nameIt(kind.name) }, key ? make('kbd', { textContent: key }) : '', ' ' + kind.name);
    button.style.setProperty('--hue', hue(c));
    const item = make('li', {}, button, make('span', { className: 'quiet', textContent: `${kind.answered}+${kind.guessed}` }));
    item.append(make('button', { textContent: '⌕', title: 'Show them', ariaLabel: `show ${kind.name}`,
      onclick: () => open('grid', { view: 'class', number: c }) }));
    if (c > 0) item.append(make('button', { textContent: '✎', title: 'Rename or merge', ariaLabel: `rename ${kind.name}`,
      onclick: () => rename(kind.name) }));
    return item;
  }));
  $('known').replaceChildren(...state.classes.map(kind => make('option', { value: kind.name })));
}

function rename(from) {
  const to = prompt(`A new name for “${from}”; the name of another kind merges the two.`, from);
  if (to && to !== from) change({ change: 'rename', from, to });
}

function drawHistory() {
  $('history').replaceChildren(...state.history.map(past => {
    const what = past.change === 'label' ? past.class : past.change === 'rename' ? `${past.from} → ${past.to}`
      : { none: 'none of these', unlabel: 'name taken off', skip: 'skipped' }[past.change];
    const text = `${what}${past.count > 1 ? ` (${past.count})` : ''}`;
    const button = make('button', { textContent: text, title: 'Show these again', onclick: () => {
      selected = new Set(past.items);
      open('grid', { items: past.items, title: 'an answer' });
    } });
    if (past.undone) button.className = 'undone';
    return make('li', {}, button);
  }));
}

async function show(now) {
  const fresh = !state || now.revision !== state.revision;
  state = now;
  $('place').textContent = cut(state.place, 40);
  if (fresh) await loadLabels();
  drawProgress();
  drawKinds();
  drawHistory();
  drawSelection();
  if (current === 'ask') drawQuestion();
  if (current === 'groups') drawGroups();
  if (current === 'grid') { stale = grid.view.items === undefined; grid.draw(); $('refresh').hidden = !stale; }
  if (current === 'map') map.draw();
}

function open(view, list) {
  current = view;
  for (const name of ['ask', 'groups', 'grid', 'map']) {
    $(name).hidden = name !== view;
    $('tab-' + name).setAttribute('aria-selected', name === view);
  }
  if (view === 'ask') drawQuestion();
  if (view === 'groups') drawGroups();
  if (view === 'grid') grid.load(list || (grid.view.items ? { view: 'unsure' } : grid.view));
  if (view === 'map') map.open();
}

/* ---- selection ---- */

function drawSelection() {
  $('selected-count').textContent = selected.size;
  for (const name of ['more', 'split', 'join']) $(name).disabled = selected.size === 0;
  grid.mark();
  if (current === 'map') map.draw();
}

/* Combines a set of items with the selection, in the chosen mode or the one of a held key. */
function select(items, event = {}) {
  const mode = event.shiftKey || event.ctrlKey || event.metaKey ? 'add' : event.altKey ? 'take'
    : document.querySelector('input[name=mode]:checked').value;
  if (mode === 'replace') selected = new Set(items);
  if (mode === 'add') for (const i of items) selected.add(i);
  if (mode === 'take') for (const i of items) selected.delete(i);
  if (mode === 'meet') { const others = new Set(items); selected = new Set([...selected].filter(i => others.has(i))); }
  drawSelection();
}

/* ---- naming ---- */

/* Names the selection or, in a question, its item or group. */
async function nameIt(name) {
  name = name.trim();
  if (!name) return;
  const none = name === state.classes[0].name;
  const what = none ? { change: 'none' } : { change: 'label', class: name };
  if (current === 'ask') {
    const q = state.question;
    if (!q) return;
    if (wholeGroup) {
      wholeGroup = false;
      const items = await membersOf(q.item);
      return change({ ...what, items: items.filter(i => !(flagsOf(i) & ANSWERED)) });
    }
    return change({ ...what, items: [q.item], asked: q.kind });
  }
  if (selected.size === 0) return tell('Select something first.');
  await change({ ...what, items: [...selected] });
}

async function membersOf(item) {
  const [about] = await (await ask(`names?items=${item}`)).json();
  return [...new Uint32Array(await (await ask(`items?view=group&number=${about.group}`)).arrayBuffer())];
}

/* ---- a question ---- */

const reasons = {
  typical: q => `The most typical of ${q.group_size} that look alike.`,
  drawn: () => 'Drawn at random, to measure how good the labels are.',
  unsure: q => q.guesses.length > 1 ? `Unsure: ${nameOf(q.guesses[0].class)} or ${nameOf(q.guesses[1].class)}?` : 'Unsure.',
};

async function drawQuestion() {
  const q = state.question;
  for (const id of ['accept', 'reject', 'skip', 'whole', 'like']) $(id).disabled = !q;
  if (!q) {
    $('reason').textContent = 'Nothing is left to ask about.';
    $('subject').replaceChildren();
    $('guesses').replaceChildren();
    $('subject-name').textContent = '';
    return $('kin').replaceChildren();
  }
  $('reason').textContent = (wholeGroup ? 'The next name is for the whole group. ' : '') + reasons[q.kind](q);
  $('subject-name').textContent = q.name;
  $('accept').disabled = q.guesses.length === 0;
  $('guesses').replaceChildren(...q.guesses.map(guess => {
    const button = make('button', { onclick: () => nameIt(nameOf(guess.class)),
      textContent: `${nameOf(guess.class)} ${(100 * guess.probability).toFixed(0)}%` });
    button.style.borderLeft = `8px solid ${hue(guess.class)}`;
    return button;
  }));
  const item = q.item;
  $('subject').replaceChildren(await face(item, 800));
  const kin = (await membersOf(item)).filter(i => i !== item).slice(0, 12);
  if (state.question && state.question.item === item)
    $('kin').replaceChildren(...await Promise.all(kin.map(i => face(i, 96))));
}

/* A picture of an item, or its text. */
async function face(item, side) {
  if (pictures()) {
    const image = make('img', { src: pictureOf(item, side), alt: `item ${item}`, loading: 'lazy' });
    image.onerror = () => image.replaceWith(make('p', { textContent: 'cannot be shown: the file is gone or damaged' }));
    return image;
  }
  const [about] = await names.get([item]);
  return make(side > 200 ? 'pre' : 'p', { textContent: about.text || about.name });
}

/* Names and texts, requested once, a screenful at a time. */
const names = {
  known: new Map(),
  async get(items) {
    const missing = items.filter(i => !this.known.has(i));
    for (let k = 0; k < missing.length; k += 200)
      for (const about of await (await ask('names?items=' + missing.slice(k, k + 200).join())).json())
        this.known.set(about.item, about);
    return items.map(i => this.known.get(i) || { name: '', item: i });
  },
};

const skip = () => state.question && change({ change: 'skip', items: [state.question.item] });

/* ---- groups ---- */

let ticked = new Set();
async function drawGroups() {
  const all = await (await ask('groups')).json();
  const shown = $('unnamed-only').checked ? all.filter(g => g.answered < g.size) : all;
  const cards = shown.map(group => {
    const box = make('input', { type: 'text', placeholder: `name all ${group.size}`, ariaLabel: 'a name for the group' });
    box.setAttribute('list', 'known');
    box.onkeydown = async event => {
      event.stopPropagation();
      if (event.key !== 'Enter' || !box.value.trim()) return;
      const items = [...new Uint32Array(await (await ask(`items?view=group&number=${group.group}`)).arrayBuffer())];
      await change({ change: 'label', class: box.value.trim(), items: items.filter(i => !(flagsOf(i) & ANSWERED)) });
    };
    const tick = make('input', { type: 'checkbox', ariaLabel: 'tick to merge', checked: ticked.has(group.group) });
    tick.onchange = () => tick.checked ? ticked.add(group.group) : ticked.delete(group.group);
    const samples = make('div', { className: 'samples' });
    Promise.all(group.samples.map(i => face(i, 96))).then(faces => samples.replaceChildren(...faces));
    const look = make('button', { textContent: 'Look', onclick: () => open('grid', { view: 'group', number: group.group }) });
    const split = make('button', { textContent: 'Split', disabled: group.size < 2, onclick: async () => {
      const items = [...new Uint32Array(await (await ask(`items?view=group&number=${group.group}`)).arrayBuffer())];
      change({ change: 'split', items, pieces: 2 });
    } });
    return make('div', { className: 'card' }, samples,
      make('p', { className: 'quiet', textContent: `${group.size} items, ${group.answered} named` }),
      make('div', { className: 'row' }, tick, box, look, split));
  });
  $('cards').replaceChildren(...cards);
}

async function merge() {
  const items = [];
  for (const g of ticked)
    items.push(...new Uint32Array(await (await ask(`items?view=group&number=${g}`)).arrayBuffer()));
  ticked = new Set();
  if (items.length) change({ change: 'join', items });
}

/* ---- the grid: only visible cells exist ---- */

const grid = {
  view: { view: 'unsure' }, items: [], here: 0, anchor: 0, drawn: new Map(), yes: [], no: [],
  get width() { return pictures() ? 118 : $('cells').clientWidth - 4; },
  get height() { return pictures() ? 140 : 56; },
  get columns() { return Math.max(1, Math.floor($('cells').clientWidth / this.width)); },

  async load(view) {
    this.view = view;
    if (view.items) this.items = view.items;
    else this.items = [...new Uint32Array(await (await ask(`items?view=${view.view}&number=${view.number ?? 0}`)).arrayBuffer())];
    this.here = this.anchor = 0;
    stale = false;
    $('refresh').hidden = true;
    $('refine').hidden = view.title !== 'similar';
    $('cells').scrollTop = 0;
    this.drawViews();
    this.clear();
    this.draw();
  },
  drawViews() {
    const options = [['unsure', 'the least sure'], ['all', 'everything'], ['answered', 'what is named'], ['changed', 'what changed since it was named']];
    state.classes.forEach((kind, c) => options.push([`class ${c}`, kind.name]));
    const chosen = this.view.view === 'class' ? `class ${this.view.number}` : this.view.view;
    if (!options.some(option => option[0] === chosen)) options.push([chosen || '', this.view.title || 'a group']);
    $('view').replaceChildren(...options.map(([value, text]) => make('option', { value, textContent: cut(text, 30), selected: value === (chosen || '') })));
  },
  clear() { for (const cell of this.drawn.values()) cell.remove(); this.drawn.clear(); },

  async draw() {
    if (current !== 'grid') return;
    const box = $('cells');
    box.classList.toggle('texts', !pictures());
    $('sizer').style.height = `${Math.ceil(this.items.length / this.columns) * this.height}px`;
    const from = Math.max(0, Math.floor(box.scrollTop / this.height) - 2) * this.columns;
    const to = Math.min(this.items.length, (Math.ceil((box.scrollTop + box.clientHeight) / this.height) + 2) * this.columns);
    const wanted = new Set();
    for (let k = from; k < to; k++) wanted.add(this.items[k]);
    for (const [item, cell] of this.drawn)
      if (!wanted.has(item)) { cell.remove(); this.drawn.delete(item); }
    for (let k = from; k < to; k++) this.place(k);
    this.mark();
    $('shown').textContent = `${this.items.length} items`;
    const missing = [...wanted];
    const abouts = await names.get(missing);
    for (const about of abouts) {
      const cell = this.drawn.get(about.item);
      if (!cell) continue;
      cell.title = about.name;
      if (!pictures()) cell.lastChild.textContent = about.text || about.name;
    }
  },
  place(k) {
    const item = this.items[k];
    let cell = this.drawn.get(item);
    if (!cell) {
      cell = make('div', { className: 'cell' });
      cell.setAttribute('role', 'option');
      cell.dataset.item = item;
      if (pictures()) {
        const image = make('img', { src: pictureOf(item, 112), alt: '' });
        image.onerror = () => { image.alt = 'gone'; };
        cell.append(image, make('span'));
      } else cell.append(make('span'), make('p'));
      $('sizer').append(cell);
      this.drawn.set(item, cell);
    }
    cell.style.transform = `translate(${(k % this.columns) * this.width}px, ${Math.floor(k / this.columns) * this.height}px)`;
    cell.dataset.place = k;
  },
  mark() {
    for (const [item, cell] of this.drawn) {
      const c = classOf(item), answered = flagsOf(item) & ANSWERED;
      const caption = cell.querySelector('span');
      caption.textContent = c === UNKNOWN ? '?' : answered ? nameOf(c) : `${nameOf(c)} ${(100 * sureOf(item)).toFixed(0)}%`;
      cell.setAttribute('aria-label', `${answered ? '' : 'guess: '}${caption.textContent}`);
      cell.classList.toggle('guess', !answered);
      cell.classList.toggle('changed', !!(flagsOf(item) & CHANGED));
      cell.classList.toggle('here', +cell.dataset.place === this.here);
      cell.style.setProperty('--hue', hue(c));
      cell.setAttribute('aria-selected', selected.has(item));
    }
  },
  move(step) {
    this.here = Math.max(0, Math.min(this.items.length - 1, this.here + step));
    const top = Math.floor(this.here / this.columns) * this.height, box = $('cells');
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + this.height > box.scrollTop + box.clientHeight) box.scrollTop = top + this.height - box.clientHeight;
    this.draw();
  },
  at(event) {
    const cell = event.target.closest('.cell');
    return cell ? +cell.dataset.place : -1;
  },
  click(event) {
    const k = this.at(event);
    if (k < 0) return;
    this.here = k;
    if (event.shiftKey) {
      const [low, high] = [Math.min(k, this.anchor), Math.max(k, this.anchor)];
      select(this.items.slice(low, high + 1), { ctrlKey: true });
    } else if (event.ctrlKey || event.metaKey) {
      selected.has(this.items[k]) ? selected.delete(this.items[k]) : selected.add(this.items[k]);
      this.anchor = k;
      drawSelection();
    } else {
      this.anchor = k;
      select([this.items[k]]);
    }
  },
  /* Items whose cells intersect a rectangle, in the coordinates of the sizer. */
  inFrame(left, top, right, bottom) {
    const found = [];
    const [r0, r1] = [Math.max(0, Math.floor(top / this.height)), Math.floor(bottom / this.height)];
    const [c0, c1] = [Math.max(0, Math.floor(left / this.width)), Math.min(this.columns - 1, Math.floor(right / this.width))];
    for (let r = r0; r <= r1; r++)
      for (let c = c0; c <= c1; c++)
        if (r * this.columns + c < this.items.length) found.push(this.items[r * this.columns + c]);
    return found;
  },
  async similar(yes, no) {
    this.yes = yes;
    this.no = no;
    const items = [...new Uint32Array(await (await post('similar', { yes, no })).arrayBuffer())];
    selected = new Set();
    open('grid', { items, title: 'similar' });
  },
};

function drag(event) {
  if (event.button !== 0) return;
  const box = $('cells'), bounds = $('sizer').getBoundingClientRect();
  const begin = [event.clientX - bounds.left, event.clientY - bounds.top];
  let frame = null;
  const onMove = move => {
    const now = $('sizer').getBoundingClientRect();
    const end = [move.clientX - now.left, move.clientY - now.top];
    if (!frame && Math.hypot(end[0] - begin[0], end[1] - begin[1]) < 6) return;
    if (!frame) { frame = make('div', { id: 'frame' }); $('sizer').append(frame); }
    const [left, right] = [Math.min(begin[0], end[0]), Math.max(begin[0], end[0])];
    const [top, bottom] = [Math.min(begin[1], end[1]), Math.max(begin[1], end[1])];
    Object.assign(frame.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
    frame.reach = [left, top, right, bottom];
  };
  const onUp = up => {
    removeEventListener('pointermove', onMove);
    removeEventListener('pointerup', onUp);
    if (!frame) return grid.click(up.target.closest && up.target.closest('.cell') ? up : event);
    select(grid.inFrame(...frame.reach), up);
    frame.remove();
  };
  addEventListener('pointermove', onMove);
  addEventListener('pointerup', onUp);
  box.focus();
}

async function closer(item) {
  const [about] = await names.get([item]);
  $('closer').querySelector('figure').replaceChildren(await face(item, 1200));
  $('closer').querySelector('p').textContent = about.name;
  $('closer').showModal();
}

/* ---- the map ---- */

const map = {
  at: null, lasso: null,
  async open() {
    if (!this.at || this.at.length !== 2 * state.items)
      this.at = new Uint16Array(await (await ask('map')).arrayBuffer());
    this.draw();
  },
  place(i, canvas) {
    return [12 + this.at[2 * i] / 65535 * (canvas.width - 24), canvas.height - 12 - this.at[2 * i + 1] / 65535 * (canvas.height - 24)];
  },
  draw() {
    const canvas = $('plane');
    if (!this.at || !canvas.clientWidth) return;
    canvas.width = canvas.clientWidth;
    canvas.height = canvas.clientHeight;
    const pen = canvas.getContext('2d'), counts = new Map();
    for (let i = 0; i < state.items; i++) {
      if (flagsOf(i) & GONE) continue;
      const c = classOf(i), [x, y] = this.place(i, canvas);
      const chosen = selected.has(i);
      if (selected.size === 0 || chosen) counts.set(c, (counts.get(c) || 0) + 1);
      pen.globalAlpha = chosen ? 1 : selected.size ? 0.25 : flagsOf(i) & ANSWERED ? 1 : 0.55;
      pen.fillStyle = hue(c);
      const radius = flagsOf(i) & ANSWERED ? 3.5 : 2;
      pen.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    }
    pen.globalAlpha = 1;
    if (this.lasso) {
      pen.strokeStyle = getComputedStyle(document.body).color;
      pen.lineWidth = 2;
      pen.setLineDash([6, 4]);
      pen.beginPath();
      this.lasso.forEach(([x, y], k) => k ? pen.lineTo(x, y) : pen.moveTo(x, y));
      pen.closePath();
      pen.stroke();
    }
    $('legend').replaceChildren(...[...counts].sort((a, b) => b[1] - a[1]).slice(0, 40).map(([c, count]) => {
      const dot = make('span', { className: 'dot' });
      dot.style.setProperty('--hue', hue(c));
      return make('div', {}, dot, `${nameOf(c) || 'no guess yet'} ${count}`);
    }));
  },
  inside(x, y) {
    let within = false;
    const ring = this.lasso;
    for (let a = 0, b = ring.length - 1; a < ring.length; b = a++)
      if ((ring[a][1] > y) !== (ring[b][1] > y) &&
          x < (ring[b][0] - ring[a][0]) * (y - ring[a][1]) / (ring[b][1] - ring[a][1]) + ring[a][0]) within = !within;
    return within;
  },
  hover(event) {
    const canvas = $('plane');
    let best = -1, near = 100;
    for (let i = 0; i < state.items; i++) {
      const [x, y] = this.place(i, canvas), distance = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2;
      if (distance < near && !(flagsOf(i) & GONE)) { near = distance; best = i; }
    }
    $('hover').hidden = best < 0 || !pictures();
    if (best >= 0 && pictures()) {
      $('hover').src = pictureOf(best, 96);
      Object.assign($('hover').style, { left: `${event.offsetX + 14}px`, top: `${event.offsetY + 14}px` });
    }
  },
};

$('plane').onpointerdown = event => { map.lasso = [[event.offsetX, event.offsetY]]; $('plane').setPointerCapture(event.pointerId); $('hover').hidden = true; };
$('plane').onpointermove = event => {
  if (!map.lasso) { if (state.items <= 20000) map.hover(event); return; }
  map.lasso.push([event.offsetX, event.offsetY]);
  map.draw();
};
$('plane').onpointerup = event => {
  if (!map.lasso) return;
  const items = [];
  if (map.lasso.length > 3)
    for (let i = 0; i < state.items; i++)
      if (!(flagsOf(i) & GONE) && map.inside(...map.place(i, $('plane')))) items.push(i);
  map.lasso = null;
  select(items, event);
};

/* ---- buttons and keys ---- */

for (const name of ['ask', 'groups', 'grid', 'map']) $('tab-' + name).onclick = () => open(name);
$('undo').onclick = () => change({ change: 'undo' });
$('accept').onclick = () => state.question && state.question.guesses.length && nameIt(nameOf(state.question.guesses[0].class));
$('reject').onclick = () => nameIt(state.classes[0].name);
$('skip').onclick = skip;
$('whole').onclick = () => { wholeGroup = !wholeGroup; $('whole').classList.toggle('chosen', wholeGroup); drawQuestion(); $('name').focus(); };
$('like').onclick = () => state.question && grid.similar([state.question.item], []);
$('more').onclick = () => selected.size && grid.similar([...selected], []);
$('yes').onclick = () => grid.similar([...grid.yes, ...selected], grid.no);
$('no').onclick = () => grid.similar(grid.yes, [...grid.no, ...selected]);
$('split').onclick = () => change({ change: 'split', items: [...selected], pieces: 0 });
$('join').onclick = () => change({ change: 'join', items: [...selected] });
$('merge').onclick = merge;
$('unnamed-only').onchange = drawGroups;
$('refresh').onclick = () => grid.load(grid.view);
$('view').onchange = () => { const [view, number] = $('view').value.split(' '); grid.load({ view, number }); };
$('cells').onscroll = () => grid.draw();
$('cells').onpointerdown = drag;
$('cells').ondblclick = event => { const k = grid.at(event); if (k >= 0) closer(grid.items[k]); };
addEventListener('resize', () => { grid.draw(); map.draw(); });
$('naming').onsubmit = event => {
  event.preventDefault();
  const name = $('name').value;
  $('name').value = '';
  $('name').blur();
  nameIt(name);
};
$('name').onkeydown = event => { event.stopPropagation(); if (event.key === 'Escape') $('name').blur(); };
$('open-help').onclick = () => $('help').showModal();
$('open-export').onclick = () => { $('to').value ||= 'labels.csv'; $('export-result').textContent = ''; $('export').showModal(); };
$('close-export').onclick = () => $('export').close();
$('format').onchange = () => { $('to').value = { csv: 'labels.csv', json: 'labels.json', copy: 'sorted', link: 'sorted', support: 'support', mixture: 'mixture.safetensors' }[$('format').value]; };
$('exporting').onsubmit = async event => {
  event.preventDefault();
  const body = { format: $('format').value, to: $('to').value };
  if ($('only-selected').checked) body.items = [...selected];
  try { $('export-result').textContent = 'Written: ' + (await (await post('export', body)).json()).written; }
  catch (fault) { $('export-result').textContent = fault.message; }
};

addEventListener('keydown', event => {
  if (!state || document.querySelector('dialog[open]') || event.target.matches('input[type=text], #name, select, textarea')) return;
  const key = event.key, control = event.ctrlKey || event.metaKey;
  const act = what => { event.preventDefault(); what(); };
  if (control && key === 'z') return act(() => $('undo').click());
  if (control && key === 'a' && current === 'grid') return act(() => { selected = new Set(grid.items); drawSelection(); });
  if (control || event.altKey) return;
  if (key >= '1' && key <= '9') return state.classes[+key] && act(() => nameIt(state.classes[+key].name));
  const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -grid.columns, ArrowDown: grid.columns };
  if (current === 'grid' && key in moves) return act(() => {
    grid.move(moves[key]);
    if (event.shiftKey) select([grid.items[grid.here]], { ctrlKey: true });
  });
  if (current === 'grid' && key === ' ') return act(() => {
    const item = grid.items[grid.here];
    selected.has(item) ? selected.delete(item) : selected.add(item);
    grid.anchor = grid.here;
    drawSelection();
  });
  if (current === 'grid' && key === 'Enter') return act(() => closer(grid.items[grid.here]));
  if (current === 'ask' && key === 'ArrowRight') return act(skip);
  if (current === 'ask' && key === 'ArrowLeft') return act(() => {
    const last = state.history.find(past => !past.undone);
    if (last) { selected = new Set(last.items); open('grid', { items: last.items, title: 'an answer' }); }
  });
  if (key === 'Escape') return act(() => { selected = new Set(); drawSelection(); });
  const keys = { a: 'accept', x: 'reject', s: 'skip', u: 'undo', g: 'whole', e: 'open-export', '?': 'open-help',
                 y: 'yes', n: 'no', m: current === 'ask' ? 'like' : 'more' };
  if (key === '/') return act(() => $('name').focus());
  if (current !== 'ask' && (key === 'a' || key === 's' || key === 'g')) return;
  if ((key === 'y' || key === 'n') && $('refine').hidden) return;
  if (keys[key]) act(() => $(keys[key]).click());
});

refresh().then(() => open('ask')).catch(fault => complain(fault.message || 'The program does not answer.'));
