// The grid of all heads: `draw` adds it to an element of any page, given a message of `attention.wire.cells.payload`.
// Besides these modules the page only needs heads_grid.css.

import { unpackCells } from "./cells.js";
import { alive, find, createRoot, scrollToStart } from "./elements.js";
import { listen } from "./heads_grid_events.js";
import { arrangeSquares, setFigures, setLayout } from "./heads_grid_layout.js";
import { cellSentence, findReadout } from "./heads_grid_readout.js";
import { setScale } from "./heads_grid_scale.js";
import { gridLabel, MARKUP } from "./heads_grid_words.js";
import { atToken, cellUnderPointer, show, showPinned } from "./heads_grid_pointer.js";
import { splitTrained } from "./heads_grid_trained.js";
import { createFigure, fitCaption, fitCaptions, paintHead, setCaption } from "./heads_grid_square.js";
import { applyTheme, stopsOn } from "./theme.js";

/**
 * @typedef {import("./heads_grid_layout.js").Grid} Grid
 * @typedef {import("./heads_grid_layout.js").GridData} GridData
 */

/**
 * Callbacks of the page that shows the grid: for a pin, and after data were painted.
 * @typedef {object} Ways
 * @property {(pin: { head: number, query: number, key: number, count: number }) => void} [onPin]
 * @property {() => void} [onPercent]  sets the linear colour scale
 * @property {(data: GridData) => void} [onPainted]
 * @property {boolean} [echoes]  whether each pin comes back with a later message, as from a server; true if it isn't given
 */

const CONTROLS = 200;  // pixels of the menu and of the controls of a comparison, above the grid
const SETTLED = 400;  // milliseconds after which texts above the grid, which arrive later, move it no more

/**
 * Draws the heads at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 * @param {Ways} [ways]
 */
export function draw(element, bytes, ways = {}) {
  const grid = createGrid(createRoot(element, "heads-grid", MARKUP), splitTrained(unpackCells(bytes)), ways);
  listen(grid);
  update(grid, grid.data);
  return alive(grid, () => laidOut(grid), (next) => update(grid, splitTrained(unpackCells(next))), () => {
    clearTimeout(grid.timer);
    clearTimeout(grid.snapping);
  });
}

/**
 * @param {HTMLElement} root
 * @param {GridData} data
 * @param {Ways} ways
 * @returns {Grid}
 */
function createGrid(root, data, ways) {
  const start = atToken(data, 0, 0, null);
  return {
    root, data, ways, heads: find(root, ".heads"), squares: find(root, ".squares"), large: createFigure("large"),
    spread: find(root, ".spread"), details: find(root, ".table", HTMLDetailsElement), readout: findReadout(root),
    figures: [], plan: arrangeSquares(data, root.clientWidth),
    neutrals: applyTheme(root, data.neutrals, data.accents), width: 0, laidOutFor: "",
    cursor: start, home: start, told: { head: -1, query: -1 }, followed: true, hover: null, pointer: null, keyed: false,
    sent: [], count: 0, timer: 0, pending: false, snapping: 0,
  };
}

/**
 * @param {Grid} grid
 * @param {GridData} data
 */
function update(grid, data) {
  const begins = data.sides && !grid.data.sides;
  grid.data = data;
  if (data.focus.head !== grid.told.head || data.focus.query !== grid.told.query) follow(grid, data.focus);
  else if (grid.followed) goTo(grid, data.focus);  // until a cell is chosen, it is the largest of its row
  clamp(grid);
  grid.neutrals = applyTheme(grid.root, data.neutrals, data.accents);
  data.stops = stopsOn(grid.neutrals, data);
  laidOut(grid, grid.width || grid.root.clientWidth);  // the page that changes the width is observed
  if (begins) showControls(grid);
}

/**
 * Scrolls to the beginning of the page if a comparison began far below: its controls are above the picture.
 * @param {Grid} grid
 */
function showControls({ root }) {
  if (root.getBoundingClientRect().top < CONTROLS) scrollToStart(root, "100vh");
}

/**
 * Handles a selection by the server: the echo of a pin of this grid is ignored, any other one moves the cursor.
 * @param {Grid} grid
 * @param {import("./message.js").Focus} focus
 */
function follow(grid, focus) {
  grid.told = focus;
  const echo = grid.sent.indexOf(`${focus.head} ${focus.query}`);
  if (echo >= 0) return void grid.sent.splice(0, echo + 1);
  grid.sent = [];
  if (grid.timer) return;  // a key press that has not been sent yet is newer
  goTo(grid, focus);
}

/**
 * Moves the cursor to the largest weight of the selected row.
 * @param {Grid} grid
 * @param {import("./message.js").Focus} focus
 */
function goTo(grid, focus) {
  grid.followed = true;
  grid.cursor = grid.home = atToken(grid.data, focus.head, focus.query, null);
}

/**
 * Moves a cursor that is beyond the end, after heads or tokens became fewer, to the last one, and updates its weight.
 * @param {Grid} grid
 */
function clamp(grid) {
  const { heads, queries, keys } = grid.data;
  const kept = (/** @type {{ head: number, query: number, key: number }} */ { head, query, key }) =>
    atToken(grid.data, Math.min(head, heads - 1), Math.min(query, queries - 1), Math.min(key, keys - 1));
  grid.cursor = kept(grid.cursor);
  grid.home = kept(grid.home);
}

/**
 * Lays out the grid, paints the squares whose cells or colours changed, and then calls `onPainted`. Positions are read
 * before anything is written: each write in between would cost another layout of the page.
 * @param {Grid} grid
 * @param {number} [width]
 */
function laidOut(grid, width = grid.root.clientWidth) {
  const { data, root, heads } = grid;
  grid.width = width;
  if (!width) return;
  const plan = arrangeSquares(data, width);
  snap(heads, plan.ratio);
  setFigures(grid);
  setLayout(grid, plan);
  setScale(grid);
  heads.setAttribute("aria-label", gridLabel(data));
  grid.figures.forEach((figure, h) => paintHead(figure, data, h));
  setCaptions(grid);
  find(root, ".mark").textContent = data.note ?? "";
  showPinned(grid);
  grid.hover = grid.pointer ? cellUnderPointer(grid, grid.pointer) : null;  // the data may be new
  show(grid);
  clearTimeout(grid.snapping);
  grid.snapping = window.setTimeout(() => snap(heads, grid.plan.ratio), SETTLED);
  if (root.dataset.painted === data.painted) return;
  root.dataset.painted = data.painted;
  const live = find(root, ".live");
  if (live.textContent) live.textContent = cellSentence(data, grid.cursor.shown ?? grid.cursor);  // not that of another step
  grid.ways.onPainted?.(data);
}

/**
 * Aligns the squares to whole device pixels: the page may place them in between, and they are sharp only on whole ones.
 * @param {HTMLElement} heads
 * @param {number} ratio
 */
function snap(heads, ratio) {
  const { style } = heads, box = heads.getBoundingClientRect();
  for (const side of /** @type {const} */ (["left", "top"])) {
    const at = box[side] - (parseFloat(style[side]) || 0), rest = `${Math.round(at * ratio) / ratio - at}px`;
    if (rest !== style[side]) style[side] = rest;
  }
}

/**
 * Sets the titles. A line is above heads that share keys and values, once per group, however many rows it takes; on a scale of
 * its own, a head shows its maximum. `brief`: whether names are short, as most long ones have no room.
 * @param {Grid} grid
 * @param {boolean} [brief]
 */
function setCaptions(grid, brief = Boolean(grid.plan.brief)) {
  const { figures, data, plan, squares } = grid;
  const size = data.group > 1 ? data.group : 0, group = (/** @type {number} */ h) => Math.floor(h / size);
  const lined = (/** @type {number} */ h) => size > 0 && (h < plan.columns || group(h) !== group(h - plan.columns));
  const joined = (/** @type {number} */ h) =>
    h + 1 < data.heads && group(h) === group(h + 1) && (h + 1) % plan.columns > 0;
  figures.forEach((figure, h) => {
    figure.element.classList.toggle("grouped", lined(h));
    figure.element.classList.toggle("joined", lined(h) && joined(h));
    setCaption(figure, data, h, { ...plan, brief });
    fitCaption(figure.element, plan, brief);
  });
  const shared = data.heads > data.head_colors.length;  // a colour of two heads names none
  squares.classList.toggle("dotless", shared || (brief && !plan.stacked));
  const fit = fitCaptions(figures.map(({ element }) => element));
  if (!fit && !brief && data.short_names) setCaptions(grid, true);
}
