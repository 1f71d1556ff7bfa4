// One head, large, at any length: follows pointer, wheel and keys, and tells the server which part is looked at. Until the
// server has made that part, what is there is stretched.

const QUIET = 160;  // milliseconds without another turn of the wheel before the server hears of it
const PATIENCE = 4000;  // milliseconds in which what was asked for may come; then what the server shows is what is shown
const SMALLEST = 4, DRAGGED = 4;  // tokens a side of a part, and pixels from which a drag is meant

const labs = new WeakMap();

// Called again for whatever changes, with the same parent: data, theme, a second mount.
export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".large-head");
  if (!root || !data) return;
  if (!labs.has(root)) labs.set(root, created(root));
  const lab = labs.get(root);
  lab.send = (frame) => setStateValue("frame", frame);
  return newest(root, unpacked(data), (told) => update(lab, told));
}

function created(root) {
  const find = (selector) => root.querySelector(selector);
  const lab = { root, canvas: find("canvas"), square: find(".square"), said: find(".said"), count: 0 };
  listen(lab);
  new ResizeObserver(() => lab.data && root.clientWidth !== lab.width && draw(lab)).observe(root);
  return lab;
}

function update(lab, data) {
  lab.data = data;
  lab.neutrals = themed(lab.root, data.neutrals, data.accents);
  const awaited = lab.asked && Date.now() - lab.asked.since < PATIENCE && lab.asked.name !== nameOf(data);
  if (!lab.timer && !lab.start && !awaited) Object.assign(lab, { asked: null, view: windowOf(data) });
  for (const button of lab.root.querySelectorAll("button:not([data-act=png])")) {
    button.disabled = !data.zooms || (button.dataset.act !== "in" && whole(lab.view, data));
  }
  lab.square.setAttribute("aria-label", `Head ${data.head}, queries ${data.first[0]} to ${data.first[0] + data.queries - 1}, keys ${data.first[1]} to ${data.first[1] + data.keys - 1}. Plus and minus zoom, arrow keys move, 0 shows the whole head.`);
  lab.root.classList.toggle("closed", !data.zooms);
  draw(lab);
  point(lab, lab.pointer);
  lab.root.dataset.painted = data.painted;
}

// What the server has sent, in tokens.
function windowOf({ first, queries, keys }) {
  return { top: first[0], left: first[1], high: queries, wide: keys };
}

function nameOf({ first, queries, keys }) {
  return [...first, queries, keys].join();
}

function whole(view, { tokens }) {
  return view.high >= tokens && view.wide >= tokens;
}

// --- choosing a part ----------------------------------------------------------------------------------------------

// A part that is within the head, no smaller than may be.
function within({ top, left, high, wide }, { tokens }) {
  const size = (value) => Math.min(tokens, Math.max(Math.min(SMALLEST, tokens), value));
  [high, wide] = [size(high), size(wide)];
  return { high, wide, top: Math.max(0, Math.min(tokens - high, top)), left: Math.max(0, Math.min(tokens - wide, left)) };
}

// Shows the part at once, and asks the server for it when it has been quiet for some time.
function look(lab, view, wait) {
  if (!lab.data.zooms) return;
  lab.view = within(view, lab.data);
  clearTimeout(lab.timer);
  lab.timer = setTimeout(() => ask(lab), wait);
  draw(lab);
  point(lab, lab.pointer);
}

function ask(lab) {
  lab.timer = null;
  const { top, left, high, wide } = lab.view, { tokens } = lab.data;
  const range = (first, size) => {
    const from = Math.max(0, Math.min(tokens - 1, Math.round(first)));
    return [from, Math.min(tokens, from + Math.max(1, Math.round(size))) - 1];
  };
  const rows = range(top, high), cols = range(left, wide);
  lab.view = { top: rows[0], left: cols[0], high: rows[1] - rows[0] + 1, wide: cols[1] - cols[0] + 1 };
  lab.asked = { name: [rows[0], cols[0], lab.view.high, lab.view.wide].join(), since: Date.now() };
  if (lab.asked.name === nameOf(lab.data)) return void ((lab.asked = null), (lab.view = windowOf(lab.data)), draw(lab));
  lab.send({ rows, cols, count: ++lab.count });
  const settle = lab.asked;
  setTimeout(() => lab.asked === settle && update(lab, lab.data), PATIENCE + 50);
  lab.root.querySelector(".live").textContent = `Queries ${rows[0]} to ${rows[1]}, keys ${cols[0]} to ${cols[1]}.`;
}

// The part times so much as large, around a point from 0 to 1 in both directions.
function zoomed({ view }, times, across = 0.5, down = 0.5) {
  const high = view.high * times, wide = view.wide * times;
  return { high, wide, top: view.top + (view.high - high) * down, left: view.left + (view.wide - wide) * across };
}

function act(lab, name) {
  const { tokens } = lab.data;
  if (name === "png") return saved(lab);
  if (name === "whole") return look(lab, { top: 0, left: 0, high: tokens, wide: tokens }, 0);
  const { x, y } = (name === "in" && lab.tapped) || { x: 0.5, y: 0.5 };
  lab.tapped = null;
  look(lab, zoomed(lab, name === "in" ? 0.5 : 2, x, y), 0);
}

const MOVES = { ArrowUp: [-0.25, 0], ArrowDown: [0.25, 0], ArrowLeft: [0, -0.25], ArrowRight: [0, 0.25] };

function pressed(lab, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { view } = lab, move = MOVES[event.key], times = { "+": 0.5, "=": 0.5, "-": 2, "−": 2 }[event.key];
  if (event.key === "Escape" && lab.start) [lab.start, lab.end] = [null, null], showBox(lab);
  else if (move) look(lab, { ...view, top: view.top + move[0] * view.high, left: view.left + move[1] * view.wide }, QUIET);
  else if (times) look(lab, zoomed(lab, times), QUIET);
  else if (event.key === "0") act(lab, "whole");
  else return;
  event.preventDefault();
  event.stopPropagation();  // the page has keys of its own
}

// --- pointing -----------------------------------------------------------------------------------------------------

// Where in the square an event is, from 0 to 1 in both directions.
function at({ canvas, place }, event) {
  const box = canvas.getBoundingClientRect();
  return { x: (event.clientX - box.left - place.left) / place.width, y: (event.clientY - box.top - place.top) / place.height };
}

function inside({ x, y }) {
  return x >= 0 && y >= 0 && x < 1 && y < 1;
}

// The greatest cell under a device pixel of the pointer, of means the one in its middle; null beyond what the server sent.
function cellUnder({ data, view, place, ratio }, { x, y }) {
  const range = (share, pixels, first, size, start, cells) => {
    const token = (pixel) => (first + (pixel / pixels) * size - start) / data.tile, pixel = Math.floor(share * pixels);
    const from = Math.floor(token(pixel)), to = Math.ceil(token(pixel + 1) - 1e-9);
    const middle = Math.floor(token(pixel + 0.5));
    return data.pool === "mean" || token(pixel + 1) - token(pixel) < 1 ? [middle, middle + 1] : [Math.max(0, from), Math.min(cells, to)];
  };
  const rows = range(y, Math.round(place.height * ratio), view.top, view.high, data.first[0], data.rows);
  const columns = range(x, Math.round(place.width * ratio), view.left, view.wide, data.first[1], data.columns);
  if (rows[0] < 0 || columns[0] < 0 || rows[1] > data.rows || columns[1] > data.columns || rows[0] >= rows[1] || columns[0] >= columns[1]) return null;
  return greatestCell(data, 0, rows, columns);
}

function point(lab, event) {
  lab.pointer = event;
  const spot = event && at(lab, event), cell = spot && inside(spot) ? cellUnder(lab, spot) : null;
  const [row, column] = ["i.row", "i.column"].map((name) => lab.root.querySelector(name));
  lab.square.classList.toggle("inside", Boolean(cell));
  row.style.display = column.style.display = cell ? "block" : "none";
  if (!cell) return void (lab.said.textContent = "");
  const { place, data } = lab;
  Object.assign(row.style, { left: `${place.left}px`, width: `${place.width}px`, top: `${place.top + spot.y * place.height}px` });
  Object.assign(column.style, { top: `${place.top}px`, height: `${place.height}px`, left: `${place.left + spot.x * place.width}px` });
  const range = (first, at, count, names) => {
    const from = first + at, text = names[at] === undefined ? "" : ` ${names[at]}`;
    return count > 1 ? `${from.toLocaleString("en")} to ${(from + count - 1).toLocaleString("en")}` : `${from.toLocaleString("en")}${text}`;
  };
  const sampled = data.zooms ? "" : "preview, one query of each tile: ";
  const what = cell.tall * cell.broad > 1 ? `${data.pool === "max" ? "greatest" : "mean"} of ${cell.tall} × ${cell.broad}` : "weight";
  const where = `${sampled}query ${range(data.first[0], cell.query, cell.tall, data.names[0])}, key ${range(data.first[1], cell.key, cell.broad, data.names[1])}: ${what} `;
  const weight = document.createElement("b");
  weight.textContent = number(cell.code, cell.weight);
  lab.said.replaceChildren(where, weight);
}

function showBox(lab) {
  const box = lab.root.querySelector("i.box"), { start, end, place } = lab;
  box.style.display = start && end ? "block" : "none";
  if (!start || !end) return;
  const [x, y] = [[start.x, end.x].sort((a, b) => a - b), [start.y, end.y].sort((a, b) => a - b)];
  Object.assign(box.style, {
    left: `${place.left + x[0] * place.width}px`, width: `${(x[1] - x[0]) * place.width}px`,
    top: `${place.top + y[0] * place.height}px`, height: `${(y[1] - y[0]) * place.height}px`,
  });
}

// The rectangle that was dragged becomes the part; less than a few pixels was a click.
function framed(lab) {
  const { start, end, place, view } = lab;
  [lab.start, lab.end] = [null, null];
  showBox(lab);
  if (!end || Math.abs(end.x - start.x) * place.width < DRAGGED || Math.abs(end.y - start.y) * place.height < DRAGGED) return;
  const part = (a, b, first, size) => [first + Math.min(a, b) * size, Math.abs(a - b) * size];
  const [left, wide] = part(start.x, end.x, view.left, view.wide), [top, high] = part(start.y, end.y, view.top, view.high);
  look(lab, { top, left, high, wide }, 0);
}

// --- listening ----------------------------------------------------------------------------------------------------

function listen(lab) {
  const { square, canvas, root } = lab, clamp = ({ x, y }) => ({ x: Math.max(0, Math.min(1, x)), y: Math.max(0, Math.min(1, y)) });
  canvas.addEventListener("pointerdown", (event) => {
    const spot = at(lab, event), touched = event.pointerType === "touch";
    if (touched && inside(spot)) {
      lab.tapped = spot;
      point(lab, event);
    }
    if (event.button || touched || !inside(spot) || !lab.data.zooms) return;
    lab.start = spot;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (lab.start) {
      lab.end = clamp(at(lab, event));
      showBox(lab);
    }
    point(lab, event);
  });
  canvas.addEventListener("pointerup", () => lab.start && framed(lab));
  canvas.addEventListener("pointercancel", () => {
    [lab.start, lab.end] = [null, null];
    showBox(lab);
  });
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && point(lab, null));
  // The wheel belongs to the page until the head has been clicked, or a key says that it is meant.
  canvas.addEventListener("wheel", (event) => {
    const spot = at(lab, event);
    if (!lab.data.zooms || !inside(spot) || !(event.ctrlKey || event.metaKey || document.activeElement === square)) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    look(lab, zoomed(lab, 2 ** (Math.max(-300, Math.min(300, event.deltaY * lines)) / 200), spot.x, spot.y), QUIET);
  }, { passive: false });
  square.addEventListener("keydown", (event) => pressed(lab, event));
  root.addEventListener("click", ({ target }) => target.dataset.act && act(lab, target.dataset.act));
}

// The picture on the ground of the page.
function saved({ canvas, neutrals, data }) {
  const copy = document.createElement("canvas"), pen = copy.getContext("2d");
  Object.assign(copy, { width: canvas.width, height: canvas.height });
  pen.fillStyle = neutrals.background;
  pen.fillRect(0, 0, copy.width, copy.height);
  pen.drawImage(canvas, 0, 0);
  saveAs(copy, `attention-head-${data.head}.png`);
}
