// The matrices: takes what the server sends, follows pointer and keys, and tells the server of steps and pins.

const SHRINK = 0.35, LARGEST = 330, SMALLEST = 12, IN_ALL = 150, SIGN = 34, GAP = 12, NARROW = 560, OUTLINED = 64;
const PATIENCE = 2000;  // milliseconds in which the next turn counts from the step that was asked for, drawn or not

const roots = new WeakMap();

// Called again for whatever changes, with the same parent: data, theme, a second mount.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".matrices");
  if (!root || !data) return;
  if (!roots.has(root)) roots.set(root, created(root));
  const lab = roots.get(root);
  lab.turn = (to) => setTriggerValue("turn", to);
  lab.tell = (to) => setTriggerValue("pin", to);
  return newest(root, received(data), (told) => update(lab, told));
}

function created(root) {
  const find = (selector) => root.querySelector(selector);
  const lab = { root, panels: find(".panels"), figures: new Map(), hover: null, cursor: null };
  listen(lab);
  new ResizeObserver(() => lab.data && root.clientWidth !== lab.width && draw(lab)).observe(root);
  return lab;
}

function update(lab, data) {
  const before = lab.data, moved = !before || before.focus.head !== data.focus.head || before.focus.query !== data.focus.query;
  lab.data = data;
  if (lab.asked?.step === data.step) lab.asked = null;
  lab.hover = null;
  const names = data.matrices.map(({ name }) => name).join();
  if (moved || before.matrices.map(({ name }) => name).join() !== names || !keeps(lab)) lab.cursor = lab.home = started(lab);
  else lab.cursor = again(lab, lab.cursor);
  lab.neutrals = themed(lab.root, data.neutrals, { accent: data.accent });
  draw(lab);
}

function keeps({ data, cursor }) {
  const matrix = data.found.get(cursor?.name);
  return matrix && cursor.row < matrix.rows && cursor.column < matrix.columns && cursor.head >= matrix.first && cursor.head < matrix.first + matrix.sent;
}

// The same place, as it is now.
function again({ data }, { name, row, column, head }) {
  const matrix = data.found.get(name);
  return cellAt(matrix, head, Math.floor(row / matrix.tiles[0]), Math.floor(column / matrix.tiles[1]));
}

// The greatest of the row in focus, in the step that is shown; all at once, in the weights.
function started({ data }) {
  const matrix = data.found.get(data.step ?? "weights") ?? data.matrices.at(-1), [rows] = axesOf(matrix).slice(-2);
  const row = rows === "q" ? Math.floor(data.focus.query / matrix.tiles[0]) : 0;
  return greatestIn(matrix, headOf(data, matrix, data.focus.head), [row, row + 1], [0, matrix.broad]);
}

// The head of a matrix that belongs to a head of the queries, or the one that is there.
function headOf(data, matrix, head) {
  const own = matrix.heads === 1 ? 0 : Math.floor((head * matrix.heads) / data.heads);
  return Math.max(matrix.first, Math.min(matrix.first + matrix.sent - 1, own));
}

function stopsOf({ data, neutrals }, matrix) {
  return matrix.scale === "weights" ? data.weights : matrix.scale === "mask" ? [neutrals.masked, neutrals.muted] : [data.signed[0], neutrals.background, data.signed[1]];
}

// --- laying out ---------------------------------------------------------------------------------------------------

// A side in CSS pixels: the same length has the same side in every matrix, and long ones are shrunk the most.
function sides({ data, root }) {
  const width = root.clientWidth, one = data.step !== null, narrow = width < NARROW;
  const longest = Math.max(...data.matrices.flatMap(({ rows, columns }) => [rows, columns]));
  const part = (length) => (length / longest) ** SHRINK;
  const across = data.matrices.reduce((sum, { columns }) => sum + part(columns), 0);
  const signs = (data.matrices.length - 1) * (SIGN + 2 * GAP);
  const fits = one ? (narrow ? width - 8 : (width - signs - 8) / across) : Math.min(IN_ALL, width - 8);
  const most = Math.min(LARGEST, fits), ratio = window.devicePixelRatio || 1;
  return (length) => {
    const pixels = Math.max(SMALLEST, Math.floor(most * part(length))) * ratio, whole = Math.floor(pixels / length) * length;
    return (whole > 0.8 * pixels ? whole : Math.round(pixels)) / ratio;
  };
}

function draw(lab) {
  const { data, root, panels } = lab;
  lab.width = root.clientWidth;
  if (!lab.width) return;
  root.classList.toggle("narrow", lab.width < NARROW);
  root.classList.toggle("one", data.step !== null);
  root.classList.toggle("all", data.step === null);
  const side = sides(lab), signs = data.matrices.at(-1).sources.map(({ sign }) => sign);
  const kept = new Map(data.matrices.map((matrix) => [matrix.name, lab.figures.get(matrix.name) ?? framed(lab, matrix.name)]));
  lab.figures = kept;
  panels.replaceChildren(...data.matrices.flatMap((matrix, i) => {
    size(lab, matrix, side);
    const sign = data.step !== null && signs[i] ? [made("span", "sign", signs[i])] : [];
    return [kept.get(matrix.name), ...sign];
  }));
  panels.setAttribute("aria-label", `Matrices ${data.matrices.map(({ name }) => name).join(", ")}. Arrow keys move the cell, PageUp and PageDown change the step, Enter pins.`);
  for (const figure of kept.values()) figure.painted = null;
  show(lab);
  root.dataset.painted = data.painted;
}

function made(tag, kind, text) {
  const element = document.createElement(tag);
  element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}

function framed(lab, name) {
  const figure = made("figure", ""), picture = made("div", "picture");
  picture.append(made("canvas", "values"), made("canvas", "lit"));
  figure.append(made("figcaption", ""), made("div", "axes"), picture, made("div", "bar"), made("div", "ends"));
  figure.dataset.name = name;
  return figure;
}

function size(lab, matrix, side) {
  const figure = lab.figures.get(matrix.name), [width, height] = [side(matrix.columns), side(matrix.rows)];
  const ratio = window.devicePixelRatio || 1, picture = figure.querySelector(".picture");
  Object.assign(picture.style, { width: `${width}px`, height: `${height}px` });
  for (const canvas of figure.querySelectorAll("canvas")) {
    Object.assign(canvas, { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) });
  }
  figure.classList.toggle("current", matrix.name === lab.data.step);
  caption(lab, matrix, figure);
  const stops = stopsOf(lab, matrix), end = endOf(matrix.most);
  figure.querySelector(".bar").style.background = matrix.scale === "mask" ? "none" : `linear-gradient(to right, ${stops.join()})`;
  const ends = { signed: [`−${end}`, "0", `${end}`], weights: ["0", "0.5", "1"], mask: ["hatched: hidden"] }[matrix.scale];
  figure.querySelector(".ends").replaceChildren(...ends.map((text) => made("span", "", text)));
}

function caption(lab, matrix, figure) {
  const linked = matrix.name !== lab.data.step, name = made(linked ? "button" : "b", "", matrix.name);
  if (linked) Object.assign(name, { type: "button", title: `${matrix.title}: show this step`, onclick: () => lab.turn({ step: matrix.name, steps: "one" }) });
  const [down, across] = matrix.tiles, tile = down * across > 1 ? `a cell: greatest of ${down} × ${across}` : "";
  figure.querySelector("figcaption").replaceChildren(name, made("span", "head"));
  figure.querySelector(".axes").textContent = `${matrix.axes} = ${matrix.sizes}`;
  figure.title = tile ? `${matrix.title}; ${tile}` : matrix.title;
  figure.dataset.tile = tile;
}

// --- what is pointed at -------------------------------------------------------------------------------------------

function show(lab) {
  const { data, root } = lab, cell = lab.hover ?? lab.cursor, matrix = data.found.get(cell.name), boxes = litBy(data, cell);
  for (const each of data.matrices) showOne(lab, each, cell, boxes.get(each.name) ?? []);
  const say = (name, text) => (root.querySelector(name).textContent = text);
  const value = figure(matrix, cell), pooled = cell.of > 1 ? `, the greatest of ${cell.of}` : "";
  say(".cell", `${matrix.name} = ${value}${pooled}: ${located(data, matrix, cell)}`);
  say(".arithmetic", arithmetic(data, matrix, cell, boxes));
  say(".from", origins(data, matrix, cell, boxes));
  root.dataset.cell = JSON.stringify([cell.name, cell.head, cell.row, cell.column]);
  root.dataset.lit = JSON.stringify([...boxes].map(([name, all]) => [name, all.map(({ heads, rows, columns }) => [heads, rows, columns])]));
}

// A matrix with the head that is lit in it, or that of the cell, and a veil over what is not lit.
function showOne(lab, matrix, cell, boxes) {
  const { data } = lab, figure = lab.figures.get(matrix.name), here = matrix.name === cell.name;
  const there = (head) => head >= matrix.first && head < matrix.first + matrix.sent;
  const queries = data.found.get(cell.name), asked = queries.heads === data.heads ? cell.head : data.focus.head;
  let head = here ? cell.head : headOf(data, matrix, asked);
  const heads = [...new Set(boxes.flatMap((box) => box.heads))];
  if (heads.length && !heads.includes(head)) head = heads.find(there) ?? head;
  if (figure.painted !== head) {
    paint(figure.querySelector(".values"), matrix, head, stopsOf(lab, matrix));
    figure.painted = head;
  }
  const lit = here ? [{ heads: [head], rows: [cell.row], columns: [cell.column] }] : boxes.filter((box) => box.heads.includes(head));
  veil(lab, figure, matrix, lit);
  const elsewhere = boxes.length && !lit.length ? `, lit in ${heads.join(", ")}` : heads.length > 1 ? ", lit in all" : "";
  const shared = matrix.axes.includes(" g ") && data.repeats > 1 ? "kv head" : "head";
  const told = [matrix.heads > 1 ? `${shared} ${head} of ${matrix.heads}${elsewhere}` : "", figure.dataset.tile ? "pooled" : ""];
  figure.querySelector(".head").textContent = told.filter(Boolean).join(", ");
}

// While one points, what is not lit is under a veil; at rest frames are enough.
function veil({ neutrals, data, hover, panels }, figure, matrix, boxes) {
  const canvas = figure.querySelector(".lit"), pen = canvas.getContext("2d"), { width, height } = canvas, ratio = window.devicePixelRatio || 1;
  pen.clearRect(0, 0, width, height);
  if ((hover || panels.matches(":focus-visible"))) {
    pen.globalAlpha = 0.55;
    pen.fillStyle = neutrals.background;
    pen.fillRect(0, 0, width, height);
    pen.globalAlpha = 1;
  }
  const rectangles = boxes.flatMap((box) => runs(box.rows).flatMap((down) => runs(box.columns).map((across) => [down, across])));
  const place = ([from, to], count, pixels) => {
    const start = Math.floor((from / count) * pixels), size = Math.max(ratio, Math.ceil((to / count) * pixels) - start);
    return [Math.min(start, pixels - size), size];
  };
  const drawn = rectangles.map(([down, across]) => [place(across, matrix.columns, width), place(down, matrix.rows, height)]);
  for (const [[x, w], [y, h]] of drawn) pen.clearRect(x, y, w, h);
  pen.strokeStyle = data.accent;
  pen.lineWidth = 1.5 * ratio;
  if (drawn.length > OUTLINED) return;
  for (const [[x, w], [y, h]] of drawn) {
    const [left, right] = around(x, w, width, pen.lineWidth / 2), [top, bottom] = around(y, h, height, pen.lineWidth / 2);
    pen.strokeRect(left, top, right - left, bottom - top);
  }
}

// Where a frame runs just outside of some pixels, but within the picture.
function around(start, size, pixels, half) {
  return [Math.max(half, start - half), Math.min(pixels - half, start + size + half)];
}

// The cell of the greatest magnitude under the device pixel under the pointer, where there is a picture.
function pointed({ data }, event) {
  const picture = event.target.closest?.(".picture");
  if (!picture?.isConnected) return null;
  const figure = picture.closest("figure"), matrix = data.found.get(figure.dataset.name), canvas = picture.querySelector("canvas");
  const box = picture.getBoundingClientRect();
  const x = Math.floor(((event.clientX - box.left) / box.width) * canvas.width), y = Math.floor(((event.clientY - box.top) / box.height) * canvas.height);
  if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return null;
  return greatestIn(matrix, figure.painted, under(matrix.high, canvas.height, y), under(matrix.broad, canvas.width, x));
}

// --- keys, pins and the pointer -----------------------------------------------------------------------------------

// Moves the cursor; the server hears of the head and the query of a pin.
function pin(lab, cell) {
  lab.cursor = lab.home = cell;
  lab.hover = null;
  show(lab);
  speak(lab);
  const { data } = lab, matrix = data.found.get(cell.name), [rows] = axesOf(matrix).slice(-2), to = {};
  if (rows === "q" && cell.row !== data.focus.query) to.query = data.focus.query = cell.row;
  if (matrix.heads === data.heads && matrix.heads > 1 && cell.head !== data.focus.head) to.head = data.focus.head = cell.head;
  if (Object.keys(to).length) lab.tell(to);
}

function speak({ root }) {
  const text = (name) => root.querySelector(name).textContent;
  root.querySelector(".live").textContent = `${text(".cell")}. ${text(".arithmetic")} ${text(".from")}`;
}

const MOVES = { ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], ArrowLeft: [0, 0, -1], ArrowRight: [0, 0, 1], "[": [-1, 0, 0], "]": [1, 0, 0], Home: [0, 0, -Infinity], End: [0, 0, Infinity] };
const TURNS = { PageUp: -1, PageDown: 1 };

function pressed(lab, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target !== lab.panels) return;
  const { data, cursor } = lab, { key } = event, matrix = data.found.get(cursor.name);
  if (MOVES[key]) lab.cursor = shifted(matrix, cursor, MOVES[key]);
  else if (TURNS[key] && data.step !== null) {
    const now = performance.now(), last = lab.asked && now - lab.asked.at < PATIENCE ? lab.asked.step : data.step;
    const step = data.order[data.order.indexOf(last) + TURNS[key]];
    if (step) {
      lab.asked = { step, at: now };
      lab.turn({ step });
    }
  } else if (key === "Enter" || key === " ") pin(lab, lab.cursor);
  else if (key === "Escape") lab.cursor = lab.home;
  else return;
  event.preventDefault();
  event.stopPropagation();  // the page has keys of its own
  lab.hover = null;
  show(lab);
  speak(lab);
}

// The cursor steps from one drawn cell to the next.
function shifted(matrix, { head, p, r }, [heads, rows, columns]) {
  const within = (at, low, count) => Math.max(low, Math.min(low + count - 1, at));
  return cellAt(matrix, within(head + heads, matrix.first, matrix.sent), within(p + rows, 0, matrix.high), within(r + columns, 0, matrix.broad));
}

function listen(lab) {
  const { panels } = lab;
  let frame = 0;
  const later = (act) => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(act);
  };
  panels.addEventListener("pointermove", (event) => later(() => {
    lab.hover = pointed(lab, event);
    show(lab);
  }));
  panels.addEventListener("pointerleave", () => later(() => {
    lab.hover = null;
    show(lab);
  }));
  panels.addEventListener("click", (event) => {
    const cell = pointed(lab, event);
    if (cell) pin(lab, cell);
  });
  panels.addEventListener("keydown", (event) => pressed(lab, event));
  for (const kind of ["focus", "blur"]) panels.addEventListener(kind, () => lab.data && show(lab));
}
