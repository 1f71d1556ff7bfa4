// Saves the words with lines as a file, with their provenance and, if there is one, the link that opens them.

import { number } from "./cells.js";
import { cut, paragraph, put, saveSvg, sheet, wrapText, toSvg } from "./picture_file.js";
import { DASHES, strokes } from "./word_lines_picture.js";
import { sentence, SIDES } from "./word_lines_readout.js";
import { countOf, every, pairsOf, SEEN } from "./word_lines_view.js";
import { linkOfFile } from "./word_lines_words.js";

/**
 * @typedef {import("./word_lines_view.js").Web} Web
 * @typedef {import("./word_lines_view.js").Side} Side
 * @typedef {import("./word_lines_view.js").Line} Line
 */

const WIDTH = 640, EDGE = 16, PITCH = 18;  // pixels
const FROM = 210, TO = 430;  // x at which lines begin and end
const ROOM = 120;  // maximum width of a word
const LETTERS = 12, SMALL = 10, HEADING = 14;

/**
 * @param {Web} web
 * @param {string} kind  "svg" or "png"
 */
export function save(web, kind) {
  saveSvg(fileOf(web), `attention-words-head-${web.data.head}`, kind);
}

/**
 * Returns the SVG of the words and lines for the word at the cursor.
 * @param {Web} web
 */
export function fileOf(web) {
  const { data } = web, { text, muted } = data.neutrals.light, wide = WIDTH - 2 * EDGE;
  const said = wrapText(sentence({ ...web, hover: null }), LETTERS, wide);
  const opens = data.link ? [linkOfFile(data.link)] : [];
  const whose = [data.provenance, ...opens].flatMap((each) => wrapText(each, SMALL, wide));
  const high = Math.max(data.queries, data.keys) * PITCH;
  const top = EDGE + 1.4 * (HEADING + said.length * LETTERS) + EDGE, below = top + high + EDGE;
  const root = sheet(WIDTH, Math.ceil(below + 1.4 * SMALL * whose.length + EDGE));
  put(root, "title", {}, data.heading);
  put(root, "desc", {}, data.provenance);
  const heading = [cut(data.heading, HEADING, wide)], heavy = { fill: text, "font-weight": 600 };
  const after = paragraph(root, heading, EDGE, EDGE, HEADING, heavy);
  paragraph(root, said, EDGE, after, LETTERS, { fill: text });
  if (data.all) curves(web, root, top, every(data).filter(({ share }) => share >= SEEN), 0.8);
  curves(web, root, top, pairsOf(data, web.cursor), 1);
  for (const side of SIDES) words(web, root, top, side);
  paragraph(root, whose, EDGE, below, SMALL, { fill: muted });
  return toSvg(root);
}

/**
 * @param {Web} web
 * @param {Element} root
 * @param {number} top
 * @param {Line[]} lines
 * @param {number} opacity
 */
function curves({ data }, root, top, lines, opacity) {
  const { head, head_colors } = data, third = 0.4 * (TO - FROM);
  const group = put(root, "g", { fill: "none", stroke: head_colors[head % head_colors.length], opacity });
  for (const { query, key, alpha, width, weight } of strokes(lines)) {
    const from = top + (query + 0.5) * PITCH, to = top + (key + 0.5) * PITCH;
    const d = `M${FROM} ${from}C${FROM + third} ${from} ${TO - third} ${to} ${TO} ${to}`;
    const line = { d, "stroke-width": width.toFixed(2), "stroke-opacity": alpha.toFixed(3) };
    put(group, "path", weight < 0 ? { ...line, "stroke-dasharray": DASHES.join(" ") } : line);
  }
}

/**
 * Writes the words of a side with their positions, and their weights if the cursor is on the other side.
 * @param {Web} web
 * @param {Element} root
 * @param {number} top
 * @param {Side} side
 */
function words({ data, cursor }, root, top, side) {
  const { text, muted } = data.neutrals.light, pairs = side === cursor.side ? null : pairsOf(data, cursor);
  const out = side ? 1 : -1, edge = side ? TO : FROM, anchor = side ? "start" : "end";
  for (let at = 0; at < countOf(data, side); at++) {
    const y = top + (at + 0.7) * PITCH, place = `${data.first[side] + at}`, name = data.names[side][at];
    const bold = side === cursor.side && at === cursor.at ? 700 : 400;
    put(root, "text", { x: edge + 6 * out, y, "font-size": SMALL, fill: muted, "text-anchor": anchor }, place);
    const shown = { x: edge + 34 * out, y, "font-size": LETTERS, "font-weight": bold, fill: text };
    if (name !== undefined) put(root, "text", { ...shown, "text-anchor": anchor }, cut(name, LETTERS, ROOM));
    if (!pairs) continue;
    const weight = { x: side ? WIDTH - EDGE : EDGE, y, "font-size": SMALL, fill: text };
    const end = { "text-anchor": side ? "end" : "start" };
    put(root, "text", { ...weight, ...end }, number(pairs[at].code, pairs[at].weight));
  }
}
