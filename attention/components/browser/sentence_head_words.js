// The words of one head over a sentence.

import { percent } from "./percent.js";

export const MARKUP = `
<p class="name before-name"></p>
<div class="chips earlier" role="group" aria-label="Tokens before the mask. Choose the one whose weights are shown."></div>
<p class="name now-name"></p>
<div class="chips now" role="group" aria-label="Tokens. Choose the one whose weights are shown."></div>
<div class="above">
<p class="said" aria-live="polite"></p>
<p class="scale" aria-hidden="true">weight: 0% <i class="ramp"></i> 100%
<span class="of-masked"><i class="swatch"></i> masked</span></p>
</div>
<div class="map" role="img"><canvas></canvas><i class="row"></i><i class="cell"></i></div>`;

export const HINT = "Point at a token, or tap it, to see its weights.";
export const SHORT_HINT = "Point at a token, or tap it.";
export const AXES = "query ↑\nkey →";
export const MAP_HINT = "Rows: queries, columns: keys.";

/** @param {string} mask */
export function beforeLabel(mask) {
  return `Before: ${mask}`;
}

/** @param {string} mask */
export function afterLabel(mask) {
  return `With the mask: ${mask}`;
}

/** @param {{ rows: number, columns: number, said: string }} map */
export function mapLabel({ rows, columns, said }) {
  return `Heat map of ${rows} by ${columns} weights. ${said}`;
}

/** @param {{ query: string, key: string, weight: number, rest: number, masked: boolean }} pair */
export function pairText({ query, key, weight, rest, masked }) {
  if (masked) return `${key} is masked for ${query}.`;
  return `${query} puts ${percent(weight, rest)} of its weight on ${key}.`;
}

/** @param {{ query: string, key: string, weight: number, rest: number, masked: boolean }} pair */
export function pairLine({ query, key, weight, rest, masked }) {
  return masked ? `${key} is masked for ${query}.` : `${query} → ${key}: ${percent(weight, rest)}`;
}

/**
 * Says that the row under the pointer is not the selected one, which the text of the page is about.
 * @param {string} line
 * @param {string} selected
 */
export function pointingLine(line, selected) {
  return `Pointing at ${line} (selected: ${selected})`;
}

/**
 * Returns a token in quotes, with its position if another one is alike, as `format_token` in Python does.
 * @param {string[]} tokens
 * @param {number} at
 */
export function tokenName(tokens, at) {
  return `“${tokens[at]}”${tokens.filter((token) => token === tokens[at]).length > 1 ? ` (${at})` : ""}`;
}
