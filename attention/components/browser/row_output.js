// The output of a head for one row, as the sum of weighted values: `draw` adds it to an element of any page, given a
// message of `attention.components.row_output.message`. It has one line per key, and numbers for the channel under the
// pointer.

import { alive, find, createElement, createRoot } from "./elements.js";
import { channelUnder, figure, most, paint, unpackStrips, weightText } from "./row_output_strips.js";
import {
  channelText, GATE, GATED, GATES, HANDED_ON, MARKUP, ONE_GATE, OUTPUT, outputText, productsTitle, SUM, valuesTitle,
} from "./row_output_words.js";
import { applyTheme } from "./theme.js";

/**
 * @typedef {import("./row_output_strips.js").OutputData} OutputData
 * @typedef {{ canvas: HTMLCanvasElement, strip: Float32Array, said: HTMLElement, end: number }} Strip
 */

/**
 * @typedef {object} Sum
 * @property {HTMLElement} root
 * @property {HTMLInputElement} slider
 * @property {OutputData} data
 * @property {Strip[]} strips
 * @property {number} channel
 * @property {number} width  the width for which it is painted
 */

/**
 * Draws the sum at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 */
export function draw(element, bytes) {
  const root = createRoot(element, "row-output", MARKUP), slider = find(root, "input", HTMLInputElement);
  /** @type {Sum} */
  const sum = { root, slider, data: unpackStrips(bytes), strips: [], channel: -1, width: 0 };
  slider.addEventListener("input", () => {
    sum.channel = slider.valueAsNumber;
    say(sum, sum.channel);
  });
  update(sum, sum.data);
  return alive(sum, () => paintRow(sum), (next) => update(sum, unpackStrips(next)));
}

/**
 * Shows new data. The selected channel is kept if it exists; otherwise the channel of the largest output is selected.
 * @param {Sum} sum
 * @param {OutputData} data
 */
function update(sum, data) {
  const { root, slider } = sum;
  sum.data = data;
  applyTheme(root, data.neutrals, data.accents);
  if (sum.channel < 0 || sum.channel >= data.channels) sum.channel = channelUnder(data.output, 1, 0);
  Object.assign(slider, { max: `${data.channels - 1}`, value: `${sum.channel}` });
  setLines(sum);
  paintRow(sum);
  say(sum, sum.channel);
  root.dataset.painted = data.painted;
}

/**
 * Writes one line per key, and the output below.
 * @param {Sum} sum
 */
function setLines(sum) {
  const { data, root } = sum, { names, weights, values, products, output } = data;
  const wide = most(values) || 1, narrow = most([...products, output]) || 1;
  sum.strips = [];
  const line = (/** @type {string} */ name, /** @type {string} */ weight, /** @type {string} */ kind) => {
    const row = createElement("tr", kind), header = createElement("th", "", name);
    Object.assign(header, { scope: "row", title: name });
    row.append(header, createElement("td", "", weight));
    return row;
  };
  const lines = names.map((name, i) => {
    const row = line(name, weightText(weights[i], data.shares), i === names.length - 1 && data.rest ? "rest" : "");
    row.append(...strip(sum, values[i], wide), ...strip(sum, products[i], narrow));
    return row;
  });
  const total = weightText(weights.reduce((all, weight) => all + weight, 0), data.shares);
  const last = line(OUTPUT, total, "sum"), what = createElement("td", "what");
  Object.assign(what, { colSpan: 2, textContent: SUM });
  last.append(what, ...strip(sum, output, narrow));
  find(root, "tbody").replaceChildren(...lines, last, ...gateLines(sum, line, narrow));
  find(root, ".of-values").textContent = valuesTitle(figure(wide));
  find(root, ".of-products").textContent = productsTitle(figure(narrow));
}

/**
 * Returns the lines of the gate and of the output times the gate, none without a gate.
 * @param {Sum} sum
 * @param {(name: string, weight: string, kind: string) => HTMLElement} line
 * @param {number} end
 */
function gateLines(sum, line, end) {
  const { gate, after } = sum.data;
  if (!gate.length) return [];
  const alike = gate.every((part) => part === gate[0]);
  const lines = [line(GATE, alike ? figure(gate[0]) : "", "gate"), line(GATED, "", "sum")];
  const says = [alike ? ONE_GATE : GATES, HANDED_ON];
  lines.forEach((row, i) => {
    const what = createElement("td", "what");
    Object.assign(what, { colSpan: 2, textContent: says[i] });
    row.append(what, ...strip(sum, i ? after : gate, i ? end : 1));
  });
  return lines;
}

/**
 * Returns the table cells of a strip and of its number at the selected channel.
 * @param {Sum} sum
 * @param {Float32Array} strip
 * @param {number} end
 */
function strip(sum, strip, end) {
  const cell = createElement("td", "strip"), canvas = cell.appendChild(createElement("canvas"));
  const said = createElement("td", "number");
  const at = (/** @type {MouseEvent} */ event) => {
    const { left, width } = canvas.getBoundingClientRect(), pixels = canvas.width;
    const pixel = Math.floor(((event.clientX - left) / width) * pixels);
    return channelUnder(strip, pixels, Math.max(0, Math.min(pixels - 1, pixel)));
  };
  cell.append(createElement("i"));
  cell.addEventListener("pointermove", (event) => say(sum, at(event)));
  cell.addEventListener("pointerleave", () => say(sum, sum.channel));
  cell.addEventListener("click", (event) => {
    sum.channel = at(event);
    sum.slider.value = `${sum.channel}`;
    say(sum, sum.channel);
  });
  sum.strips.push({ canvas, strip, said, end });
  return [cell, said];
}

/** @param {Sum} sum */
function paintRow(sum) {
  sum.width = sum.root.clientWidth;
  for (const { canvas, strip, end } of sum.strips) paint(canvas, strip, end, sum.data.accents);
}

/**
 * Writes the numbers of one channel into every line.
 * @param {Sum} sum
 * @param {number} channel
 */
function say({ root, data, strips }, channel) {
  const { head, query, channels, names, output, gate, after } = data;
  for (const { strip, said } of strips) said.textContent = figure(strip[channel]);
  root.style.setProperty("--at-share", `${(channel + 0.5) / channels}`);
  find(root, ".channel span").textContent = channelText({ channel, channels });
  const gated = /** @type {[string, string] | null} */ (gate.length ? [figure(gate[channel]), figure(after[channel])] : null);
  const said = { head, query, blind: !names.length, channel, value: figure(output[channel]), gate: gated };
  find(root, ".said").textContent = outputText(said);
}
