// The words of the matrices of a pass: their markup, the transport, captions, and sentences about a cell.

const icon = (/** @type {string} */ kind, /** @type {string} */ shape) =>
  `<svg class="${kind}" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${shape}"/></svg>`;
const BACK = icon("", "M10.5 3 5 8l5.5 5z"), NEXT = icon("", "M5.5 3 11 8l-5.5 5z");
const PLAY = icon("on", "M4.5 2.5v11l8.5-5.5z") + icon("off", "M4 3h3v10H4zM9 3h3v10H9z");

export const MARKUP = `
<div class="pass" role="toolbar" aria-label="The pass, part by part"></div>
<div class="transport">
  <button type="button" class="back" title="Previous part" aria-label="Previous part">${BACK}</button>
  <button type="button" class="next" title="Next part"><span></span>${NEXT}</button>
  <button type="button" class="play">${PLAY}<span></span></button>
  <p class="where" role="status"></p>
</div>
<div class="told"><p><b class="cell"></b> <span class="from"></span></p><p class="arithmetic"></p></div>
<div class="panels" tabindex="0" role="application" aria-roledescription="matrices of a pass of attention"></div>
<details class="hint"><summary>Keyboard</summary><kbd>↑</kbd><kbd>↓</kbd><kbd>←</kbd><kbd>→</kbd> cell,
  <kbd>[</kbd><kbd>]</kbd> head, <kbd>PageUp</kbd><kbd>PageDown</kbd> part, <kbd>Tab</kbd> in, <kbd>Enter</kbd> or click
  pins, <kbd>Esc</kbd> back</details>
<p class="live" aria-live="polite"></p>`;

export const PLAY_HELP = "Play the parts, one every three seconds", PAUSE_HELP = "Pause at this part";
export const HATCHED = "hatched: masked", POOLED = "pooled", VISIBLE = "1, visible", HIDDEN = "0, masked";
export const ROW_SUM = "Σ exp over the row", ABOUT = "≈", UNROUNDED = " (from unrounded numbers)";
export const NO_VALUES = "No values in this source: no context, no output";
export const GIVES = "→";
export const DIFFERENCE = "B − A", ONLY_B = "B", MASKED = "masked in A and B";
/** @type {Record<string, string>} */
const AXES = { q: "query", k: "key", t: "token", c: "channel", d: "channel", e: "channel" };
/** @type {Record<string, string>} */
const ROWS = {
  x: "the vector of each token", Q: "the query of each token", K: "the key of each token", V: "the value of each token",
  q: "the query of each token", k: "the key of each token", v: "the value of each token", scores: "a number per pair",
  scaled: "a number per pair", logits: "a number per pair", weights: "a share per pair", context: "a mix per token",
  joined: "the mixes of all heads", output: "the new vector of each token",
};
/** @type {Record<string, string>} */
const SEVERAL = { q: "queries", k: "keys", t: "tokens", u: "gates" };

/** @param {{ playing: boolean, ended: boolean }} state */
export function playName({ playing, ended }) {
  return playing ? "Pause" : ended ? "Play again" : "Play";
}

/** @param {string | undefined} step  the next one */
export function nextName(step) {
  return step ? `Next: ${step}` : "Next";
}

/**
 * Which step is shown, and which part of the diagram it is in.
 * @param {{ step: string | null, at: number, parts: { steps: string[] }[] }} state
 */
export function stepText({ step, at, parts }) {
  return step === null ? `All ${parts.length} parts` : `Part ${at + 1} of ${parts.length}: ${step}`;
}

/** @param {string[]} names */
export function panelsLabel(names) {
  return `Matrices ${names.join(", ")}. Arrow keys move the cell, PageUp and PageDown change the part, Enter pins.`;
}

/**
 * The size of a matrix: “4 queries × 8 channels”.
 * @param {{ letter: string, count: number }[]} sides
 */
export function sizeText(sides) {
  return sides.map(({ letter, count }) => `${count.toLocaleString("en")} ${SEVERAL[letter] ?? "channels"}`).join(" × ");
}

/**
 * A size as numbers, on one line.
 * @param {number[]} sides
 */
function timesText(sides) {
  return sides.map((count) => count.toLocaleString("en")).join("\u00a0×\u00a0");
}

/**
 * What the rows or numbers of a matrix are, and its size; the sizes of its sides where there are no words for it.
 * @param {{ name: string, sides: { letter: string, count: number }[] }} matrix
 */
export function contentText({ name, sides }) {
  return ROWS[name] ? `${ROWS[name]}: ${timesText(sides.map(({ count }) => count))}` : sizeText(sides);
}

/**
 * Which columns of the queries, keys or values of all heads are those of one head, and the size of its matrix.
 * @param {{ of: string, first: number, sides: number[] }} part
 */
export function columnsText({ of, first, sides }) {
  const columns = sides[1], last = columns > 1 ? `s ${first}–${first + columns - 1}` : ` ${first}`;
  return `column${last} of ${of}: ${timesText(sides)}`;
}

/**
 * What is computed from a row of token vectors.
 * @param {{ row: string, names: string[] }} use
 */
export function usedText({ row, names }) {
  return `The rows of ${row} in ${names.slice(0, -1).join(", ")} and ${names[names.length - 1]} are computed from this row.`;
}

/** @param {{ name: string, sources: { name: string }[] }[]} matrices  products of two matrices */
export function productsText(matrices) {
  return matrices.map(({ name, sources }) => `${name} = ${sources.map((source) => source.name).join(" · ")}`).join(", ");
}

/** @param {number[]} tile  the rows and the columns that a drawn cell covers */
export function tileText([down, across]) {
  return down * across > 1 ? `one cell: largest of ${down} × ${across}` : "";
}

/** @param {string} title */
export function showStep(title) {
  return `${title}: show this step`;
}

/** @param {{ matrix: string, value: string, pooled: number, place: string }} cell  `pooled`: the cells it is the largest of */
export function cellText({ matrix, value, pooled, place }) {
  return `${matrix} = ${value}${pooled > 1 ? `, the largest in magnitude of ${pooled}` : ""}: ${place}`;
}

/**
 * Which head is shown of several, and in which others cells are highlighted.
 * @param {{ head: number, count: number, shared: boolean, lit: number[], here: boolean }} heads
 */
export function headText({ head, count, shared, lit, here }) {
  const elsewhere = lit.length && !here ? `, highlighted in ${lit.join(", ")}` : "";
  const all = here && lit.length > 1 ? ", highlighted in all" : "";
  return `${shared ? "kv head" : "head"} ${head} (of ${count})${elsewhere || all}`;
}

/** @param {{ a: string, b: string }} cell  the numbers of both sides */
export function sidesText({ a, b }) {
  return `A: ${a} · B: ${b}`;
}

/** @param {string} matrix */
export function changeOf(matrix) {
  return `${matrix}, ${DIFFERENCE}`;
}

/** @param {string} from  what a cell was computed from */
export function inB(from) {
  return `In B: ${from}`;
}

/** @param {{ sum: string }} row */
export function rowSum({ sum }) {
  return `${sum}, the sum of exp over the row`;
}

/** @param {string} value */
export function about(value) {
  return `about ${value}`;
}

/**
 * A row or column: query “boat” (4), or channel 7.
 * @param {{ axis: string, at: number, token: string | undefined }} place
 */
export function placeText({ axis, at, token }) {
  return token === undefined ? `${AXES[axis]} ${at}` : `${AXES[axis]} “${token}” (${at})`;
}

/** @param {{ column: number, width: number }} place  a column of heads side by side, each `width` channels wide */
export function columnText({ column, width }) {
  return `column ${column} (head ${Math.floor(column / width)}, channel ${column % width})`;
}

/** @param {{ head: number | null, shared: boolean, row: string, column: string }} place */
export function locationText({ head, shared, row, column }) {
  return `${head === null ? "" : `${shared ? "kv " : ""}head ${head}, `}${row}, ${column}`;
}

/** @param {{ at: string, score: string, value: string, masked: boolean }} logit */
export function logitText({ at, score, value, masked }) {
  if (masked) return `logit[${at}] = −∞: masked, regardless of the score${score && ` (${score})`}`;
  return `logit[${at}] = ${value}: visible, so the score is kept`;
}

/**
 * The products of a sum that are not written out.
 * @param {{ count: number, sum: string }} others
 */
export function othersText({ count, sum }) {
  return `${sum} (the other ${count})`;
}

/** @param {{ at: string, signed: boolean }} weight */
export function maskedWeight({ at, signed }) {
  return `weight[${at}] = ${signed ? "" : "exp(−∞) / … = "}0: masked`;
}

/**
 * What a cell was computed from.
 * @param {{ name: string, parts: { name: string, count: number }[], drawn: boolean, input: boolean }} sources
 */
export function originsText({ name, parts, drawn, input }) {
  if (name === "mask") return "Given, not computed from the scores: where it is 0, the logit becomes −∞.";
  if (name === "x") return "An input: a language model looks up the row of each token in a learned table.";
  if (input) return `${name.startsWith("W") ? "A parameter" : "An input"} of the pass: no step computes it.`;
  const nothing = drawn ? "Fully masked query: computed from no key." : "The matrices it is computed from are not shown.";
  if (!parts.length) return nothing;
  const cells = parts.map(({ name, count }) => `${count.toLocaleString("en")} ${count > 1 ? "cells" : "cell"} of ${name}`);
  return `Computed from ${cells.join(", ")}.`;
}
