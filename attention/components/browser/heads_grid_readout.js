// The readout of the cell under the pointer or the cursor: numbers, tokens, its row as bars and as a table.

import { cellAt, greatest, height as heightOf, MASKED, number, ZERO } from "./cells.js";
import { find, createElement, penOf } from "./elements.js";
import { evenMarks, mirrorMarks, timesEven } from "./uniform.js";
import { differenceNumber, differenceTicks, onlyIn, sizeOf } from "./difference_cells.js";
import { headNumber, headTitle, keyTokens } from "./heads_grid_square.js";
import { RAMP, ramp } from "./theme.js";

/**
 * @typedef {import("./cells.js").Cell} Cell
 * @typedef {import("./heads_grid_layout.js").Grid} Grid
 * @typedef {import("./heads_grid_layout.js").GridData} GridData
 */

const TABLE = 50;

const LINES = /** @type {const} */ (["said", "head", "query", "key", "weight", "first", "second", "even", "note"]);

/** @typedef {Record<typeof LINES[number], HTMLElement>} Readout */

// The lines of the readout. To add one, write it here and in LINES, and its text in `setReadout`. A narrow window shows only
// the lines that heads_grid.css names (`&:not(.wide) .readout`).
export const READOUT = `
  <dl class="readout">
    <dd class="said" data-of="said"></dd>
    <dt>head</dt><dd data-of="head"></dd>
    <dt class="of-query">query</dt><dd data-of="query"></dd>
    <dt class="of-key">key</dt><dd data-of="key"></dd>
    <dt class="of-weight">weight</dt><dd data-of="weight"></dd>
    <dt class="of-side">A</dt><dd class="of-side" data-of="first"></dd>
    <dt class="of-side">B</dt><dd class="of-side" data-of="second"></dd>
    <dt class="of-even">vs uniform</dt><dd class="of-even" data-of="even"></dd>
    <dd class="note" data-of="note"></dd>
  </dl>`;

/**
 * Returns the elements of the readout, by name.
 * @param {HTMLElement} root
 * @returns {Readout}
 */
export function findReadout(root) {
  const found = LINES.map((name) => [name, find(root, `[data-of="${name}"]`)]);
  return /** @type {Readout} */ (Object.fromEntries(found));
}

/**
 * @param {GridData} data
 * @param {number} token
 * @param {number} count
 * @param {string[]} [tokens]
 */
function nameToken(data, token, count, tokens = data.tokens) {
  const name = tokens[token];
  if (count > 1 && data.tile > 1 && !data.places) return `${token} to ${token + count - 1}`;
  return name === undefined ? `${token}` : `“${name}” (${token})`;
}

/**
 * Writes the text of every line of the readout.
 * @param {Grid} grid
 * @param {Cell} cell
 */
export function setReadout(grid, cell) {
  const { data, of } = grid, where = cell.tall * cell.broad > 1;
  const blind = seesNothing(data, cell);
  of.head.textContent = headNumber(data, cell.head);
  of.query.textContent = nameToken(data, cell.query, cell.tall) + (blind ? "" : totalOf(data, cell));
  of.key.textContent = nameToken(data, cell.key, cell.broad, keyTokens(data));
  of.weight.textContent = numberOf(data, cell);
  of.first.textContent = sideNumber(cell.before);
  of.second.textContent = sideNumber(cell.after);
  of.even.textContent = timesEven(data, cell);
  const said = sentence(data, cell), role = data.names[cell.head] ? `, ${data.names[cell.head]}` : "";
  of.said.textContent = `${headTitle(data, cell.head)}${role}: ${said}`;
  const alone = grid.plan.wide && data.tokens.length ? said : "";  // without token texts it would repeat the numbers
  of.note.textContent = blind ? "This query has no visible key." : where && cell.code > ZERO ? noteOf(data, cell) : alone;
  grid.root.style.setProperty("--head", data.head_colors[cell.head % data.head_colors.length]);
}

/**
 * Returns the number of a cell, with its sign if it has one.
 * @param {GridData} data
 * @param {Cell} cell
 */
function numberOf(data, { code, weight }) {
  return data.sides ? differenceNumber(code) : number(code, weight);
}

/**
 * Returns the weight of one side of a difference; "" if the cell is none.
 * @param {number | undefined} code
 */
function sideNumber(code) {
  return code === undefined ? "" : differenceNumber(code, false);
}

/**
 * Returns how much of a row no key gets, or its sum if it may be anything; "" if rows sum to one or are not known.
 * @param {GridData} data
 * @param {Cell} cell
 */
function totalOf(data, cell) {
  if (!data.sums) return "";
  const sum = data.sums[cell.head * data.queries + cell.query];
  return data.rest === null ? ` · sum ${sum.toFixed(2)}` : ` · ${data.rest} ${(100 * Math.max(0, 1 - sum)).toFixed(1)}%`;
}

/**
 * Returns a sentence about a cell. A narrow window shows it instead of token labels, a wide one below the numbers.
 * @param {GridData} data
 * @param {Cell} cell
 */
function sentence(data, cell) {
  const [who, whom] = namePair(data, cell);
  const weight = numberOf(data, cell);
  if (data.sides && cell.code !== MASKED) {
    const alone = onlyIn(cell.code), only = alone ? ` (masked in ${alone === "A" ? "B" : "A"})` : "";
    return `${who} to ${whom}: ${weight}${only}.`;
  }
  const puts = data.rest === null ? `${who} weighs ${whom} by ${weight}` : `${who} puts ${weight} of its weight on ${whom}`;
  return `${cell.code === MASKED ? `${whom} is masked for ${who}` : puts}.`;
}

/**
 * Returns the query and the key of a cell in words: “boat” (17), or query 17 without a text.
 * @param {GridData} data
 * @param {Cell} cell
 */
function namePair(data, cell) {
  const query = nameToken(data, cell.query, cell.tall), key = nameToken(data, cell.key, cell.broad, keyTokens(data));
  return [query.startsWith("“") ? query : `query ${query}`, key.startsWith("“") ? key : `key ${key}`];
}

/**
 * @param {GridData} data
 * @param {Cell} cell
 */
function noteOf(data, cell) {
  const sampled = cell.head < data.certain ? "" : "preview from one query per tile: ";
  const several = Math.max(cell.tall, cell.broad) > data.tile, mean = several ? "largest mean" : "mean";
  const of = `${sampled}${data.pool === "mean" ? mean : "largest"} of ${cell.tall} × ${cell.broad}`;
  return data.places || data.tile === 1 ? `${of}, at query ${cell.query}, key ${cell.key}` : of;
}

/**
 * @param {GridData} data
 * @param {Cell} cell
 */
function seesNothing(data, { head, row }) {
  return greatest(data.codes[head].subarray(row * data.columns, (row + 1) * data.columns)) === MASKED;
}

/**
 * Returns a sentence about a cell for screen readers.
 * @param {GridData} data
 * @param {Cell} cell
 */
export function cellSentence(data, cell) {
  const even = timesEven(data, cell), sides = data.sides ? `, A ${sideNumber(cell.before)}, B ${sideNumber(cell.after)}` : "";
  const said = `${data.sides ? "difference" : "weight"} ${numberOf(data, cell)}${sides}${even && `, ${even}`}`;
  const weight = cell.code === MASKED ? "masked" : said;
  const rest = seesNothing(data, cell) ? ", no visible key" : "";
  return `${headTitle(data, cell.head)}, ${namePair(data, cell).join(", ")}: ${weight}${rest}`;
}

/**
 * @param {GridData} data
 * @param {Cell} cell
 */
function rowCells(data, { head, row }) {
  return Array.from({ length: data.columns }, (_, column) => cellAt(data, head, row, column));
}

/**
 * Draws the row as bars, relative to its largest weight; on a logarithmic scale at their positions on it, and on “times
 * even” with a line at 1. Negative weights go down from a line in the middle. An arrow above the bars marks the cell, so
 * that the bars do not depend on it.
 * @param {Grid} grid
 * @param {Cell} cell
 */
export function setSpread(grid, cell) {
  const { data, spread } = grid, ratio = window.devicePixelRatio || 1;
  const canvas = find(spread, "canvas", HTMLCanvasElement);
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (!width) return;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const size = (/** @type {Cell} */ { code }) => (data.sides ? sizeOf(code) : code);
  const row = rowCells(data, cell), top = row.reduce((best, other) => (size(other) > size(best) ? other : best));
  const pen = penOf(canvas);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = data.head_colors[cell.head % data.head_colors.length];
  const edge = (/** @type {number} */ column) => (column * width) / data.columns;
  for (const other of row) {
    const left = Math.floor(edge(other.column)), right = Math.ceil(edge(other.column + 1));
    const share = heightOf(data, other, Math.abs(top.weight)), both = Boolean(data.sides || data.signed);
    const room = both ? height / 2 - 1 : height - 2, zero = both ? height / 2 : height;
    const high = other.weight ? Math.max(1, Math.round(share * room)) : 0, begin = other.weight < 0 ? zero : zero - high;
    const gap = width / data.columns > 4 * ratio ? ratio : 0;
    pen.fillRect(left, begin, right - left - gap, high);
    if (other.column === cell.column) setArrow(canvas, (left + right - gap) / 2 / ratio, begin / ratio);
  }
  if (data.sides || data.signed || data.colors === "times even") {
    pen.fillStyle = grid.neutrals.muted;
    pen.fillRect(0, Math.round(height / 2), width, Math.max(1, Math.round(ratio)));
  }
  const at = nameToken(data, top.key, top.broad, []);
  const most = top.weight ? `: largest ${numberOf(data, top)} at key ${at}` : "";
  const first = cell.row * data.tile, last = Math.min(first + data.tile, data.queries) - 1;
  const who = data.tile > 1 ? `Queries ${first}–${last}` : `Query ${cell.query}`;
  find(spread, "p").textContent = `${cell.head < data.certain ? who : "Preview"}${most}`;
}

/**
 * Places the arrow at `middle`, ending at the top of its bar, which is `top` pixels below the top of the canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {number} middle
 * @param {number} top
 */
function setArrow(canvas, middle, top) {
  const { style } = /** @type {HTMLElement} */ (canvas.parentElement);
  style.setProperty("--bar-middle", `${middle}px`);
  style.setProperty("--bar-top", `${canvas.offsetTop + top}px`);
}

/**
 * Fills the table of the row, largest weights first, if it is open.
 * @param {Grid} grid
 * @param {Cell} cell
 */
export function setTable(grid, cell) {
  const { data, details } = grid;
  if (!details.open) return;
  const seen = rowCells(data, cell).filter((other) => other.code !== MASKED);
  seen.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.key - b.key);
  const lines = seen.slice(0, TABLE).map((other) => {
    const line = createElement("tr"), name = keyTokens(data)[other.key] ?? "";
    const texts = [`${other.key}`, name, numberOf(data, other)];
    line.append(...texts.map((text) => createElement("td", "", text)));
    return line;
  });
  find(details, "tbody").replaceChildren(...lines);
  const rest = seen.length > TABLE ? `, the first ${TABLE} of ${seen.length}` : "";
  const head = headTitle(data, cell.head).toLowerCase();
  find(details, "summary").textContent = `Row as table: ${head}, query ${cell.query}${rest}`;
}

/**
 * Draws the colour bar with its ticks.
 * @param {Grid} grid
 */
export function setScale({ root, data }) {
  const colors = ramp(data.stops), canvas = find(root, ".bar", HTMLCanvasElement), image = new ImageData(256, 1);
  new Uint32Array(image.data.buffer).forEach((_, i, out) => (out[i] = colors[Math.round((i * (RAMP - 1)) / 255)]));
  penOf(canvas).putImageData(image, 0, 0);
  const marks = ticks(data).map(([at, text]) => {
    const mark = createElement("span", "", text);
    mark.style.left = `${100 * at}%`;
    return mark;
  });
  find(root, ".ticks").replaceChildren(...marks);
  find(root, ".scale-name").textContent = nameOf(data);
  find(root, ".why").textContent = data.why;
  root.classList.toggle("even", data.colors === "times even" && !data.sides);
  root.classList.toggle("sides", Boolean(data.sides));
  find(root, ".of-weight").textContent = data.sides ? "B − A" : "weight";
}

/**
 * Returns the name of the scale.
 * @param {GridData} data
 */
function nameOf({ colors, sides }) {
  if (sides) return `B − A, from −1 to 1${{ root: " (square root)", log: " (log)" }[/** @type {string} */ (colors)] ?? ""}`;
  if (colors === "times even") return "weight × visible keys";
  return colors === "linear" ? "weight" : `weight (${colors})`;
}

/**
 * @param {GridData} data
 * @returns {[number, string][]}
 */
export function ticks(data) {
  if (data.sides) return differenceTicks(data.colors);
  return data.signed ? mirrorMarks(ticksOfPositive(data)) : ticksOfPositive(data);
}

/**
 * @param {GridData} data
 * @returns {[number, string][]}
 */
function ticksOfPositive(data) {
  if (data.colors === "own maximum") return [[0, "0"], [0.5, "half"], [1, "head max"]];
  if (data.colors === "linear") return [0, 0.25, 0.5, 0.75, 1].map((at) => [at, `${at}`]);
  if (data.colors === "times even") return evenMarks(data.times);
  const decades = Math.round(-Math.log10(data.floor));
  const said = (/** @type {number} */ power) => (power > -4 ? `${Number((10 ** power).toPrecision(1))}` : `1e${power}`);
  return Array.from({ length: decades + 1 }, (_, i) => [i / decades, said(i - decades)]);
}
