// The grid: takes what the server sends, follows pointer and keys, and tells the server what was pinned.

const QUIET = 120;  // milliseconds without another key before the server hears of it

const grids = new WeakMap();

// Called again for whatever changes, with the same parent: data, theme, a second mount.
export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".heads-grid");
  if (!root || !data) return;
  if (!grids.has(root)) grids.set(root, created(root));
  const grid = grids.get(root);
  grid.send = (pin) => setStateValue("pin", pin);
  return newest(root, unpacked(data), (told) => update(grid, told));
}

function created(root) {
  const find = (selector) => root.querySelector(selector);
  const of = Object.fromEntries(["head", "query", "key", "weight", "note"].map((name) => [name, find(`[data-of="${name}"]`)]));
  const grid = { root, of, heads: find(".heads"), spread: find(".spread"), details: find("details"), figures: [], sent: [], count: 0 };
  listen(grid);
  new ResizeObserver(() => grid.data && root.clientWidth !== grid.width && draw(grid)).observe(root);
  return grid;
}

function update(grid, data) {
  const first = !grid.data;
  grid.data = data;
  if (first || data.focus.head !== grid.told.head || data.focus.query !== grid.told.query) follow(grid, data.focus);
  clamp(grid);
  grid.neutrals = themed(grid.root, data.neutrals, data.accents);
  setScale(grid);
  draw(grid);
}

// The server names a focus: an echo of what was pinned here is old news, anything else moves the cursor.
function follow(grid, focus) {
  grid.told = focus;
  const echo = grid.sent.indexOf(`${focus.head} ${focus.query}`);
  if (echo >= 0) return void grid.sent.splice(0, echo + 1);
  grid.sent = [];
  if (grid.timer) return;  // what is being typed here is newer
  grid.cursor = grid.home = atToken(grid.data, focus.head, focus.query, null);
}

// A cursor beyond the end, after heads or tokens became fewer, comes back to the last one; weights are read anew.
function clamp(grid) {
  const { heads, queries, keys } = grid.data;
  const kept = ({ head, query, key }) =>
    atToken(grid.data, Math.min(head, heads - 1), Math.min(query, queries - 1), Math.min(key, keys - 1));
  grid.cursor = kept(grid.cursor);
  grid.home = kept(grid.home);
}

// The cell that holds a query and a key; without a key the greatest of the row. In a cell of many tokens the query stays
// what was asked for, while `shown` says where the greatest weight stands.
function atToken(data, head, query, key) {
  const row = Math.floor(query / data.tile), cells = [row, row + 1];
  if (key === null) key = greatestCell(data, head, cells, [0, data.columns]).key;
  const cell = cellAt(data, head, row, Math.floor(key / data.tile));
  return data.tile > 1 ? { ...cell, query, shown: cell } : cell;
}

// Lays out, paints the squares whose cells or colours changed, and says when that is done.
function draw(grid) {
  const { data, root, heads } = grid;
  grid.width = root.clientWidth;
  if (!grid.width) return;
  setFigures(grid);
  setLayout(grid, arranged(data, grid.width));
  snap(heads, grid.plan.ratio);
  heads.setAttribute("aria-label", `Attention weights of ${data.heads} heads, ${data.queries} queries by ${data.keys} keys. Arrow keys move, brackets change the head, Enter pins.`);
  grid.figures.forEach((figure, h) => paintHead(figure, data, h));
  setCaptions(grid);
  root.querySelector(".mark").textContent = data.note ?? "";
  showPinned(grid);
  grid.hover = grid.pointer ? pointed(grid, grid.pointer) : null;  // it rests, but what lies under it may be new
  show(grid);
  if (root.dataset.painted === data.painted) return;
  root.dataset.painted = data.painted;
  if (data.address) requestAnimationFrame(() => setTimeout(() => address(data.address)));
}

// The link of what is now on the screen, right after the frame that shows it, unless another than the last one has taken
// its place since. Streamlit writes it too, but has to draw the whole page anew for it.
function address([last, query]) {
  const [now, before, then] = [location.search, last, query].map((text) => [...new URLSearchParams(text)].sort().join("&"));
  if (now === before && now !== then) history.pushState({}, "", location.pathname + (query && `?${query}`));
}

// The page may place us between two device pixels; squares are sharp only on whole ones.
function snap(heads, ratio) {
  Object.assign(heads.style, { left: 0, top: 0 });
  const { left, top } = heads.getBoundingClientRect(), rest = (at) => `${Math.round(at * ratio) / ratio - at}px`;
  Object.assign(heads.style, { left: rest(left), top: rest(top) });
}

function paintHead(figure, data, h) {
  const codes = data.codes[h], { painted } = figure, stops = data.stops.join();
  if (painted && painted.colors === data.colors && painted.stops === stops && painted.columns === data.columns && sameCodes(painted.codes, codes)) return;
  figure.most = greatest(codes);
  const most = figure.most > ZERO ? weightsOf(data)[figure.most] : 1;
  paint(figure.querySelector("canvas"), data, codes, data.colors === "own maximum" ? 1 / most : 1);
  figure.painted = { codes, stops, colors: data.colors, columns: data.columns };
}

function sameCodes(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

// Titles; heads that share keys and values are bracketed, and with a scale of its own each says its greatest weight.
function setCaptions({ figures, data, plan }) {
  const size = data.group > 1 ? data.group : 0, group = (h) => Math.floor(h / size);
  figures.forEach((figure, h) => {
    figure.style.setProperty("--head", data.head_colors[h % data.head_colors.length]);
    figure.classList.toggle("grouped", size > 0);
    figure.classList.toggle("joined", size > 0 && h + 1 < data.heads && group(h) === group(h + 1) && (h + 1) % plan.columns > 0);
    const most = data.colors === "own maximum" && plan.width > 100 ? `to ${number(figure.most, weightsOf(data)[figure.most])}` : "";
    figure.querySelector("figcaption b").textContent = plan.width < 60 ? `${h}` : `Head ${h}`;
    figure.querySelector("figcaption span").textContent = [size ? `kv ${group(h)}` : "", most].filter(Boolean).join(" · ");
  });
}

// --- what is pointed at -------------------------------------------------------------------------------------------

function show(grid) {
  const cell = grid.hover ?? grid.cursor, { plan, heads } = grid;
  const at = cell.shown ?? cell;
  const put = (name, value) => heads.style.setProperty(name, `${value}px`);
  put("--row-top", at.row * plan.cell.height);
  put("--row-size", plan.cell.height);
  put("--column-left", at.column * plan.cell.width);
  put("--column-size", plan.cell.width);
  heads.classList.toggle("crossed", Boolean(grid.hover || grid.keyed));
  setReadout(grid, at);
  setSpread(grid, at);
  setTable(grid, at);
}

function showPinned(grid) {
  const { cursor, plan, heads, figures } = grid, high = Math.max(plan.cell.height, 3);
  heads.style.setProperty("--pinned-top", `${Math.max(0, (cursor.row + 0.5) * plan.cell.height - high / 2)}px`);
  heads.style.setProperty("--pinned-size", `${high}px`);
  figures.forEach((figure, h) => figure.classList.toggle("focus", h === cursor.head));
}

// The greatest cell under the device pixel under the pointer, where there is a square.
function pointed(grid, event) {
  const square = event.target.closest?.(".square");
  if (!square?.isConnected) return null;
  const { data, plan } = grid, box = square.getBoundingClientRect();
  const x = Math.floor(((event.clientX - box.left) / box.width) * plan.broad), y = Math.floor(((event.clientY - box.top) / box.height) * plan.high);
  if (x < 0 || y < 0 || x >= plan.broad || y >= plan.high) return null;
  const range = (cells, pixels, i) => { const { from, to } = spans(cells, pixels); return [from[i], to[i]]; };
  return greatestCell(data, Number(square.dataset.head), range(data.rows, plan.high, y), range(data.columns, plan.broad, x));
}

// --- pinning ------------------------------------------------------------------------------------------------------

// Moves the cursor and, where head or query changed, tells the server: at once, or when the keys have been quiet.
function pin(grid, cell, wait) {
  const { cursor } = grid;
  grid.cursor = cell;
  if (!wait) grid.home = cell;
  clearTimeout(grid.timer);
  grid.timer = null;
  if (!wait || grid.pending || cell.head !== cursor.head || cell.query !== cursor.query) {
    grid.pending = true;
    grid.timer = setTimeout(() => tell(grid), wait ? QUIET : 0);
  }
  showPinned(grid);
  show(grid);
  speak(grid, cell);
}

function tell(grid) {
  const { head, query, key } = grid.cursor;
  grid.timer = null;
  grid.pending = false;
  if (!grid.root.isConnected) return;  // the page was left
  grid.sent = [...grid.sent, `${head} ${query}`].slice(-16);
  grid.send({ head, query, key, count: ++grid.count });
}

function speak(grid, cell) {
  grid.root.querySelector(".live").textContent = spoken(grid.data, cell.shown ?? cell);
}

// --- listening ----------------------------------------------------------------------------------------------------

function listen(grid) {
  const { heads, root } = grid;
  let frame = 0;
  heads.addEventListener("pointermove", (event) => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      grid.pointer = event;
      grid.hover = pointed(grid, event);
      show(grid);
    });
  });
  heads.addEventListener("pointerleave", () => {
    cancelAnimationFrame(frame);
    grid.pointer = grid.hover = null;
    show(grid);
  });
  heads.addEventListener("click", (event) => {
    const cell = pointed(grid, event);
    if (cell) pin(grid, cell, false);
  });
  heads.addEventListener("keydown", (event) => pressed(grid, event));
  for (const kind of ["focus", "blur"]) {
    heads.addEventListener(kind, () => {
      grid.keyed = kind === "focus" && heads.matches(":focus-visible");
      show(grid);
    });
  }
  grid.details.addEventListener("toggle", () => show(grid));
  root.querySelector(".png").addEventListener("click", () => saved(grid));
}

const STEPS = {
  ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], ArrowLeft: [0, 0, -1], ArrowRight: [0, 0, 1], "[": [-1, 0, 0], "]": [1, 0, 0],
  PageUp: [-1, 0, 0], PageDown: [1, 0, 0], Home: [0, 0, -Infinity], End: [0, 0, Infinity], Enter: [0, 0, 0], " ": [0, 0, 0],
};

function pressed(grid, event) {
  const step = STEPS[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey || !(step || event.key === "Escape")) return;
  event.preventDefault();
  event.stopPropagation();  // the page has keys of its own
  Object.assign(grid, { keyed: true, pointer: null, hover: null });
  if (!step) return pin(grid, grid.home, true);
  pin(grid, moved(grid.data, grid.cursor, step), event.key !== "Enter" && event.key !== " ");
}

// The cursor steps from cell to cell; in a cell of many tokens it stands where the greatest of them is.
function moved(data, { head, row, column, ...cell }, [heads, rows, columns]) {
  if (!heads && !rows && !columns) return { head, row, column, ...cell };
  const within = (at, n) => Math.max(0, Math.min(n - 1, at));
  return cellAt(data, within(head + heads, data.heads), within(row + rows, data.rows), within(column + columns, data.columns));
}
