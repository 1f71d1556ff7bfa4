// The readout of the cell under the pointer or the cursor: numbers, tokens, and its row as a table.

import { greatest, LEAST, MASKED, number, ZERO } from "./cells.js";
import { find, createElement } from "./elements.js";
import { NEARLY_ALL, share, timesEven } from "./uniform.js";
import { cellDifference, onlyIn, sideNumber } from "./difference_cells.js";
import { keyTokens, rowCells, shortName } from "./heads_grid_square.js";
import {
  cellText, equalText, evenText, FULLY_MASKED, headAndCell, NO_NUMBER, numberTitle, ofCell, pairTexts, pooledText, range,
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
const NAMED = 3;  // equal keys that a sentence names
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
export function nameToken(data, token, count, tokens = data.tokens) {
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
  readout.first.textContent = numberOfSide(data, cell.before);
  readout.second.textContent = numberOfSide(data, cell.after);
  readout.even.textContent = timesEven(data, cell) || NO_NUMBER;
  const said = sentence(data, cell), role = shortName(data.names[cell.head]);
  readout.said.textContent = headAndCell({ title: titleOf(data, cell.head), role, cell: said });
  const named = data.tokens.length && !data.trained;  // otherwise it would repeat the numbers, or the tokens above
  const alone = grid.plan.wide && named ? (isLess(data, cell) ? ofCell(said) : said) : "";
  // the sentence has its head, query and key; a sum that is not one is in the line of the query
  grid.root.classList.toggle("pooled", data.tile > 1);
  grid.root.classList.toggle("placed", data.tile > 1 && Boolean(data.places));
  grid.root.classList.toggle("spoken", Boolean(alone) && !where && !data.sums);
  const pooled = where && cell.code > ZERO ? noteOf(data, cell, grid.plan.wide) : "";
  readout.note.textContent = blind ? FULLY_MASKED : pooled || alone;
  grid.root.style.setProperty("--head", data.head_colors[cell.head % data.head_colors.length]);
}

/**
 * Returns whether a cell of one pair has less than the largest weight of its row, of weights that differ.
 * @param {GridData} data
 * @param {Cell} cell
 */
function isLess(data, cell) {
  if (data.sides || data.signed || data.tile > 1 || cell.code === MASKED) return false;
  const seen = visibleCells(data, cell);
  return seen.some(({ code }) => code > cell.code) && !isEven(seen);
}

/**
 * Returns the weight of a cell as a share of its row, or as a number if rows sum to anything, with its sign if it has one.
 * @param {GridData} data
 * @param {Cell} cell
 */
export function numberOf(data, cell) {
  const { code, weight } = cell;
  if (data.sides) return cellDifference(cell, data.rest !== null);
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
 * @param {GridData} data
 * @param {number | undefined} code
 */
function numberOfSide(data, code) {
  return code === undefined ? "" : sideNumber(code, data.rest !== null);
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
  if (!sides && data.tile === 1 && data.rest !== null && !masked && !data.trained) {
    const seen = visibleCells(data, cell), sum = seen.reduce((all, each) => all + each.weight, 0);
    if (seen.length > NAMED && isEven(seen)) return evenText({ query, count: seen.length, share: sum / seen.length });
  }
  const isExact = !sides && !rough && data.tile === 1 && data.rest !== null && cell.weight > 0;
  const [other, ...more] = isExact ? withNumberOf(data, cell).filter((each) => each.key !== cell.key) : [];
  if (other) return equalText({ query, key, weight, other: namePair(data, other)[1], count: 1 + more.length });
  return cellText({ query, key, weight, masked, rest: data.rest, sides, alone });
}

/**
 * Returns the visible cells of the row of a cell.
 * @param {GridData} data
 * @param {Cell} cell
 */
export function visibleCells(data, cell) {
  return rowCells(data, cell).filter(({ code }) => code !== MASKED);
}

/**
 * Returns whether all weights are nearly as large as the largest one.
 * @param {Cell[]} cells
 */
export function isEven(cells) {
  const most = Math.max(...cells.map(({ weight }) => weight));
  return most > 0 && cells.every(({ weight }) => weight >= most * NEARLY);
}

/**
 * Returns the visible cells of the row of a cell that have the same number, itself included.
 * @param {GridData} data
 * @param {Cell} cell
 */
export function withNumberOf(data, cell) {
  const same = numberOf(data, cell);
  return visibleCells(data, cell).filter((other) => numberOf(data, other) === same);
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
  const sides = data.sides ? { before: numberOfSide(data, cell.before), after: numberOfSide(data, cell.after) } : null;
  return spokenCell({
    title: titleOf(data, cell.head), pair: namePair(data, cell), weight: numberOf(data, cell),
    masked: cell.code === MASKED, even: timesEven(data, cell), blind: seesNothing(data, cell), sides,
  });
}

/**
 * Fills the table of the row, largest weights first, if it is open.
 * @param {Grid} grid
 * @param {Cell} cell
 */
export function setTable(grid, cell) {
  const { data, details } = grid;
  if (!details.open) return;
  const seen = visibleCells(data, cell);
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
