// Marks of the enlarged head: lines where a text repeats, the frame of one pair, and which labels of the axes they need.

import { MASKED } from "./cells.js";

/**
 * @typedef {import("./large_head_view.js").Lab} Lab
 * @typedef {import("./large_head_view.js").LargeData} LargeData
 * @typedef {{ token: number, text: string, kind: "" | "start" | "pair" }} Label
 */

const RING = 3, LEAST = 7;  // pixels between a cell and its frame, and the least side of a framed cell

/**
 * Returns the labels of an axis: those of the starts of repeats and every k-th of all others, as far as they do not touch, which
 * are the same for each head of a text; and that of the framed or pointed pair or the selected row, in place of those that it
 * would touch. Where a text repeats, the same words have labels in each repeat and on both axes.
 * @param {LargeData} data
 * @param {0 | 1} side
 * @param {[number, string][]} names
 * @param {number} line  tokens per line of text
 * @returns {Label[]}
 */
export function spacedLabels({ marks, query }, side, names, line) {
  const selected = marks && side === 0 ? query : -1, pair = (marks?.pointed ?? marks?.pair)?.[side] ?? selected;
  const starts = marks?.starts ?? [], every = Math.max(1, Math.ceil(line));
  /** @type {Label[]} */
  const ticks = [];
  const isApart = (/** @type {number} */ one, /** @type {number} */ other) => Math.abs(one - other) >= line;
  const keep = (/** @type {Label["kind"]} */ kind, /** @type {(token: number, i: number) => boolean} */ wanted) =>
    names.forEach(([token, text], i) => {
      if (wanted(token, i) && ticks.every((tick) => isApart(tick.token, token))) ticks.push({ token, text, kind });
    });
  keep("start", (token) => starts.includes(token));
  const period = starts.length > 1 ? starts[1] - 1 : 0;  // a text repeats from token 1 on
  const inRepeat = (/** @type {number} */ token) => (token - 1) % period;
  keep("", (token, i) => (period ? isApart(inRepeat(token), period) && inRepeat(token) % every === 0 : i % every === 0));
  /** @type {Label[]} */
  const pairs = names.filter(([token]) => token === pair).map(([token, text]) => ({ token, text, kind: "pair" }));
  return [...ticks.filter((tick) => pairs.every(({ token }) => isApart(tick.token, token))), ...pairs];
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Lab} lab
 */
export function drawMarks(pen, { data, place, view, neutrals, square }) {
  const { marks, accents } = data;
  if (!marks) return;
  const x = (/** @type {number} */ token) => place.left + ((token - view.left) / view.wide) * place.width;
  const y = (/** @type {number} */ token) => place.top + ((token - view.top) / view.high) * place.height;
  const right = place.left + place.width, below = place.top + place.height;
  pen.save();
  pen.strokeStyle = neutrals.muted;
  for (const start of marks.starts.slice(1)) {
    line(pen, place.left, Math.round(y(start)) - 0.5, right, Math.round(y(start)) - 0.5);
    line(pen, Math.round(x(start)) - 0.5, place.top, Math.round(x(start)) - 0.5, below);
  }
  if (marks.pair) {
    const [query, key] = marks.pair, across = x(key + 0.5), down = y(query + 0.5);
    const half = Math.max(LEAST, place.width / view.wide) / 2 + RING;
    pen.strokeStyle = accents.query;
    pen.lineWidth = 2;
    pen.strokeRect(across - half, down - half, 2 * half, 2 * half);
    if (square.classList.contains("inside")) return void pen.restore();  // the pointer has lines of its own
    pen.lineWidth = 1;
    line(pen, place.left, down, Math.max(place.left, across - half), down);
    pen.strokeStyle = accents.key;
    pen.setLineDash([4, 3]);
    line(pen, across, Math.min(below, down + half), across, below);
  }
  if (marks.hides) askRow(pen, data, place, neutrals);
  pen.restore();
}

/**
 * Frames the selected row, and writes a question mark on each visible cell, paler outside of the row, or a large one if cells
 * are too small: a map without any could be taken for weights of zero.
 * @param {CanvasRenderingContext2D} pen
 * @param {LargeData} data
 * @param {import("./large_head_view.js").Place} place
 * @param {import("./theme.js").Ground} neutrals
 */
function askRow(pen, { codes, rows, columns, tile, query, queries, keys, accents }, { left, top, width, height }, neutrals) {
  const wide = (width * tile) / keys, high = (height * tile) / queries, asked = Math.floor(query / tile);
  const write = (/** @type {number} */ column, /** @type {number} */ row, /** @type {string} */ color) => {
    pen.fillStyle = color;
    pen.fillText("?", left + (column + 0.5) * wide, top + (row + 0.5) * high);
  };
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  if (Math.min(wide, high) >= LEAST) {
    codes[0].forEach((code, i) => {
      const row = Math.floor(i / columns);
      if (code !== MASKED) write(i % columns, row, row === asked ? neutrals.text : neutrals.line);
    });
  } else {
    pen.font = pen.font.replace("11px", "72px");
    write(columns / 3, (rows * 2) / 3, neutrals.muted);  // below the diagonal, where a causal mask hides nothing
  }
  pen.strokeStyle = accents.query;
  pen.lineWidth = 2;
  pen.strokeRect(left, top + asked * high, width, high);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} left
 * @param {number} top
 * @param {number} right
 * @param {number} below
 */
function line(pen, left, top, right, below) {
  pen.beginPath();
  pen.moveTo(left, top);
  pen.lineTo(right, below);
  pen.stroke();
}
