// The colour bar of the grid, with its ticks.

import { MASKED } from "./cells.js";
import { find, createElement, penOf } from "./elements.js";
import { differenceTicks } from "./difference_cells.js";
import { DIFFERENCE, OWN_MAXIMUM, scaleName, TIMES_UNIFORM, WEIGHT } from "./heads_grid_words.js";
import { RAMP, ramp } from "./theme.js";
import { evenMarks, mirrorMarks } from "./uniform.js";

/**
 * @typedef {import("./heads_grid_layout.js").Grid} Grid
 * @typedef {import("./heads_grid_layout.js").GridData} GridData
 */

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
  const shown = { colors: data.colors, sides: Boolean(data.sides), shares: data.rest !== null };
  find(root, ".scale-name").textContent = scaleName(shown);
  const even = data.colors === "times even" && !data.sides;
  find(root, ".why").textContent = even ? `${TIMES_UNIFORM}\n${data.why}`.trim() : data.why;
  const isMasked = data.sides || data.codes.some((codes) => codes.includes(MASKED));
  find(root, ".of-masked").hidden = !isMasked;
  find(root, ".percent").hidden = !data.offers_percent;
  root.classList.toggle("even", even);
  root.classList.toggle("sides", Boolean(data.sides));
  find(root, ".of-weight").textContent = data.sides ? DIFFERENCE : WEIGHT;
}

/**
 * @param {GridData} data
 * @returns {[number, string][]}
 */
export function ticks(data) {
  if (data.sides) return differenceTicks(data.colors, data.rest !== null);
  return data.signed ? mirrorMarks(ticksOfPositive(data)) : ticksOfPositive(data);
}

/**
 * @param {GridData} data
 * @returns {[number, string][]}
 */
function ticksOfPositive(data) {
  if (data.colors === "own maximum") return OWN_MAXIMUM.map((text, i) => [i / 2, text]);
  if (data.colors === "linear") {
    const isShare = !data.signed && data.rest !== null;  // rows sum to one, and their weights are written in percent
    return [0, 0.5, 1].map((at) => [at, isShare ? `${100 * at}%` : `${at}`]);
  }
  if (data.colors === "times even") return evenMarks(data.times);
  const decades = Math.round(-Math.log10(data.floor));
  const said = (/** @type {number} */ power) => (power > -4 ? `${Number((10 ** power).toPrecision(1))}` : `1e${power}`);
  return Array.from({ length: decades + 1 }, (_, i) => [i / decades, said(i - decades)]);
}
