// Draws lines between words: larger weights have wider and more opaque lines, negative ones dashed lines.

import { find, penOf } from "./elements.js";
import { drawLine, every, home, pairsOf, SEEN } from "./word_lines_view.js";
import { leftOut } from "./word_lines_words.js";

/**
 * @typedef {import("./word_lines_view.js").Web} Web
 * @typedef {import("./word_lines_view.js").Line} Line
 */

const THIN = 0.75, BROAD = 7;  // pixels
const FAINT = 0.2;  // opacity of a line of little weight; less for more than MANY lines
const MANY = 1000;
export const DASHES = [7, 4];  // of lines of negative weights
const TALLEST = 8192;  // maximum height of a canvas in device pixels

/**
 * Resizes the canvases and repaints them.
 * @param {Web} web
 */
export function laidOut(web) {
  const width = web.middle.clientWidth, height = web.middle.clientHeight;
  web.width = web.root.clientWidth;
  const ratio = Math.min(window.devicePixelRatio || 1, TALLEST / Math.max(1, height));
  for (const canvas of [web.base, web.lit]) {
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    penOf(canvas).setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  web.base.hidden = !web.data.all;
  if (web.data.all) paintAll(web);
  find(web.root, ".left-out").hidden = !web.data.all;
  light(web);
}

/** @param {Web} web */
function paintAll(web) {
  const lines = every(web.data).filter(drawLine), seen = lines.filter(({ share }) => share >= SEEN);
  paint(web, web.base, seen);
  find(web.root, ".left-out").textContent = leftOut(lines.length - seen.length);
}

/**
 * Paints the lines of the word under the pointer, or else of the word at the cursor. All other lines are dimmed if the
 * pointer is on a word or the cursor is not at its home.
 * @param {Web} web
 */
export function light(web) {
  const { side, at } = web.hover ?? web.cursor, start = home(web.data);
  web.root.classList.toggle("pointed", Boolean(web.hover) || side !== start.side || at !== start.at);
  paint(web, web.lit, pairsOf(web.data, { side, at }));
}

/**
 * Returns opacity and width of each line with a weight, ascending by weight.
 * @param {Line[]} lines
 */
export function strokes(lines) {
  const all = lines.filter(drawLine), faint = FAINT * Math.min(1, MANY / all.length);
  return all.sort((a, b) => a.share - b.share).map((line) => ({
    ...line,
    alpha: (line.share < SEEN ? faint / 2 : faint) + (1 - faint) * Math.sqrt(line.share),
    width: THIN + (BROAD - THIN) * line.share,
  }));
}

/**
 * @param {Web} web
 * @param {HTMLCanvasElement} canvas
 * @param {Line[]} lines
 */
function paint(web, canvas, lines) {
  const pen = penOf(canvas), width = web.middle.clientWidth, { head, head_colors } = web.data;
  const pitch = web.middle.clientHeight / Math.max(web.data.queries, web.data.keys);
  pen.clearRect(0, 0, canvas.width, canvas.height);  // more than the lines take, as words may have become wider since
  pen.strokeStyle = head_colors[head % head_colors.length];
  for (const line of strokes(lines)) {
    const from = (line.query + 0.5) * pitch, to = (line.key + 0.5) * pitch;
    pen.globalAlpha = line.alpha;
    pen.lineWidth = line.width;
    pen.setLineDash(line.weight < 0 ? DASHES : []);
    pen.beginPath();
    pen.moveTo(0, from);
    pen.bezierCurveTo(0.4 * width, from, 0.6 * width, to, width, to);
    pen.stroke();
  }
}
