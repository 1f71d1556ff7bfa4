// The readout of the cell under the pointer or the cursor: numbers, tokens, its row as bars and as a table.

import { greatest, height as heightOf, LEAST, MASKED, number, ZERO } from "./cells.js";
import { find, createElement, penOf } from "./elements.js";
import { NEARLY_ALL, share, timesEven } from "./uniform.js";
import { cellDifference, differenceNumber, onlyIn, sizeOf } from "./difference_cells.js";
import { keyTokens, rowCells, shortName } from "./heads_grid_square.js";
import {
  cellText, equalText, FULLY_MASKED, headAndCell, largest, NO_NUMBER, numberTitle, pairTexts, pooledText, PREVIEW, range, rowName,
  rowSum, spokenCell, tileText, tableTitle, titleOf, tokenText, OVER, UNDER,
} from "./heads_grid_words.js";

/**
 * @typedef {import("./cells.js").Cell} Cell
 * @typedef {import("./heads_grid_layout.js").Grid} Grid
 * @typedef {import("./heads_grid_layout.js").GridData} GridData
 */

const TABLE = 50;
const FAINT = 0.001;  // of a row: a smaller weight of a training is no number that says something
const NEARLY = 0.95;  // of the largest weight of a row: bars of as much look equal
const LINES = /** @type {const} */ (["said", "head", "query", "key", "weight", "first", "second", "even", "note"]);

/** @typedef {Record<typeof LINES[number], HTMLElement>} Readout */

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
  const several = count > 1 && data.tile > 1 && !data.places;
  return tokenText({ token, name: tokens[token], last: several ? token + count - 1 : token });
}

/**
 * Writes the text of every line of the readout.
 * @param {Grid} grid
 * @param {Cell} cell
 */
export function setReadout(grid, cell) {
  const { data, readout } = grid, where = cell.queryCount * cell.keyCount > 1;
  const blind = seesNothing(data, cell), ranges = where && data.places ? rangesOf(data, cell) : null;
  readout.head.textContent = data.per ? titleOf(data, cell.head) : `${cell.head}`;
  const query = ranges ? range(...ranges[0]) : nameToken(data, cell.query, cell.queryCount);
  readout.query.textContent = query + (blind ? "" : totalOf(data, cell));
  readout.key.textContent = ranges ? range(...ranges[1]) : nameToken(data, cell.key, cell.keyCount, keyTokens(data));
  readout.weight.textContent = numberOf(data, cell);
  readout.first.textContent = sideNumber(cell.before);
  readout.second.textContent = sideNumber(cell.after);
  readout.even.textContent = timesEven(data, cell) || NO_NUMBER;
  const said = sentence(data, cell), role = shortName(data.names[cell.head]);
  readout.said.textContent = headAndCell({ title: titleOf(data, cell.head), role, cell: said });
  const named = data.tokens.length && !data.trained;  // otherwise it would repeat the numbers, or the tokens above
  const alone = grid.plan.wide && named ? said : "";
  // the sentence has its head, query and key; a sum that is not one is in the line of the query
  grid.root.classList.toggle("pooled", data.tile > 1);
  grid.root.classList.toggle("placed", data.tile > 1 && Boolean(data.places));
  grid.root.classList.toggle("spoken", Boolean(alone) && !where && !data.sums);
  const pooled = where && cell.code > ZERO ? noteOf(data, cell, grid.plan.wide) : "";
  readout.note.textContent = blind ? FULLY_MASKED : pooled || alone;
  grid.root.style.setProperty("--head", data.head_colors[cell.head % data.head_colors.length]);
}

/**
 * Returns the weight of a cell as a share of its row, or as a number if rows sum to anything, with its sign if it has one.
 * @param {GridData} data
 * @param {Cell} cell
 */
function numberOf(data, cell) {
  const { code, weight } = cell;
  if (data.sides) return cellDifference(cell);
  if (data.trained && weight > 0 && weight < FAINT) return UNDER;
  if (data.rest === null) return number(code, weight);
  return isNearlyAll(data, cell) ? NEARLY_ALL : share(code, weight);
}

/**
 * Returns whether a weight is only rounded to all of its row: another key of the row has some of it.
 * @param {GridData} data
 * @param {Cell} cell
 */
function isNearlyAll(data, cell) {
  return cell.weight === 1 && data.tile === 1 && rowCells(data, cell).filter(({ code }) => code >= LEAST).length > 1;
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
  return rowSum({ rest: data.rest, sum });
}

/**
 * Returns a sentence about a cell. A narrow window shows it instead of token labels, a wide one below the numbers.
 * @param {GridData} data
 * @param {Cell} cell
 */
function sentence(data, cell) {
  const [query, key] = namePair(data, cell), masked = cell.code === MASKED, sides = Boolean(data.sides);
  const alone = sides && !masked ? onlyIn(cell.code) : "", rough = roughly(data, cell), weight = rough || numberOf(data, cell);
  const isTile = cell.queryCount * cell.keyCount > 1 && !data.places && !sides && !masked;
  if (isTile) return tileText({ which: data.pool === "mean" ? "Mean" : "Largest", query, key, weight });
  const isExact = !sides && !rough && data.tile === 1 && data.rest !== null && cell.weight > 0;
  const [other, ...more] = isExact ? withNumberOf(data, cell).filter((each) => each.key !== cell.key) : [];
  if (other) return equalText({ query, key, weight, other: namePair(data, other)[1], count: 1 + more.length });
  return cellText({ query, key, weight, masked, rest: data.rest, sides, alone });
}

/**
 * Returns the visible cells of the row of a cell that have the same number, itself included.
 * @param {GridData} data
 * @param {Cell} cell
 */
function withNumberOf(data, cell) {
  const same = numberOf(data, cell);
  return rowCells(data, cell).filter((other) => other.code !== MASKED && numberOf(data, other) === same);
}

/**
 * Returns a share that is nearly nothing or nearly all of a row as sentences have it; "" for any other number.
 * @param {GridData} data
 * @param {Cell} cell
 */
function roughly(data, cell) {
  const { weight } = cell;
  if (data.sides || data.rest === null || weight <= 0) return "";
  if (isNearlyAll(data, cell)) return OVER;
  if (weight >= 1) return "";
  return weight < FAINT ? UNDER : weight > 1 - FAINT ? OVER : "";
}

/**
 * Returns the query and the key of a cell in words: “boat” (17), or query 17 without a text.
 * @param {GridData} data
 * @param {Cell} cell
 */
function namePair(data, cell) {
  const key = nameToken(data, cell.key, cell.keyCount, keyTokens(data));
  return pairTexts({ query: nameToken(data, cell.query, cell.queryCount), key });
}

/**
 * Returns the queries and the keys of a cell, first and last, if it is one tile of several; null if a pixel has more of them.
 * @param {GridData} data
 * @param {Cell} cell
 * @returns {[number, number][] | null}
 */
function rangesOf({ tile }, { row, column, queryCount, keyCount }) {
  if (queryCount > tile || keyCount > tile) return null;
  return [[row * tile, row * tile + queryCount - 1], [column * tile, column * tile + keyCount - 1]];
}

/**
 * @param {GridData} data
 * @param {Cell} cell
 * @param {boolean} isWide  whether the ranges of a tile are above it, so that it has the place of the number
 */
function noteOf(data, cell, isWide) {
  const { queryCount, keyCount, query, key } = cell, several = Math.max(queryCount, keyCount) > data.tile;
  const at = /** @type {[number, number] | null} */ (data.places || data.tile === 1 ? [query, key] : null);
  const ranges = rangesOf(data, cell), pair = ranges && at && isWide ? namePair(data, cell) : null;
  return pooledText({ sampled: cell.head >= data.certain, pool: data.pool, several, queryCount, keyCount, at, ranges, pair });
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
  const sides = data.sides ? { before: sideNumber(cell.before), after: sideNumber(cell.after) } : null;
  return spokenCell({
    title: titleOf(data, cell.head), pair: namePair(data, cell), weight: numberOf(data, cell),
    masked: cell.code === MASKED, even: timesEven(data, cell), blind: seesNothing(data, cell), sides,
  });
}

/**
 * Draws the row as bars, relative to its largest weight; on the scale “log” at their positions on it. Negative weights go
 * down from a line in the middle. An arrow above the bars marks the cell, so that the bars do not depend on it.
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
  if (data.sides || data.signed) {
    pen.fillStyle = grid.neutrals.muted;
    pen.fillRect(0, Math.round(height / 2), width, Math.max(1, Math.round(ratio)));
  }
  const first = data.tile > 1 ? cell.row * data.tile : cell.query;
  setEnds(grid, top);
  const weight = numberOf(data, top), seen = row.filter(({ code }) => code !== MASKED);
  const ties = withNumberOf(data, top), keys = ties.map(({ key, keyCount }) => nameToken(data, key, keyCount, []));
  const unsaid = numberOf(data, cell) === weight ? "" : weight;
  const isTold = !unsaid && grid.root.classList.contains("spoken");  // by the sentence above
  const all = ties.length === seen.length, even = top.weight > 0 && seen.every(({ weight }) => weight >= top.weight * NEARLY);
  const said = largest({ weight: unsaid, keys, tile: data.tile, all, even, sides: Boolean(data.sides) });
  const most = top.weight && (all || even || !isTold) ? said : "";
  const last = data.tile > 1 ? Math.min(first + data.tile, data.queries) - 1 : first;
  const query = nameToken(data, first, 1);
  const name = rowName({ first, last, query, tile: data.tile, pool: data.pool, sides: Boolean(data.sides) });
  find(spread, "p").textContent = `${cell.head < data.certain ? name : PREVIEW}${most}`;
}

/**
 * Writes the largest weight of the row beside the top of the bars if their scale goes from 0 to it; a training has no room.
 * @param {Grid} grid
 * @param {Cell} top
 */
function setEnds({ data, spread }, top) {
  const linear = !data.sides && !data.signed && !data.trained && data.colors !== "log";
  const bars = find(spread, ".bars");
  if (linear && top.weight) bars.dataset.most = numberOf(data, top);
  else delete bars.dataset.most;
}

/**
 * Places the arrow at `middle`, ending at the top of its bar, which is `top` pixels below the top of the canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {number} middle
 * @param {number} top
 */
function setArrow(canvas, middle, top) {
  const { style } = /** @type {HTMLElement} */ (canvas.parentElement);
  style.setProperty("--bar-middle", `${canvas.offsetLeft + middle}px`);
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
  find(details, "th:last-child").textContent = numberTitle(Boolean(data.sides));
  const title = { head: titleOf(data, cell.head), query: cell.query, shown: TABLE, all: seen.length };
  find(details, "summary").textContent = tableTitle(title);
}
