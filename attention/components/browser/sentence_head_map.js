// The map of one head with the tokens beside and below it, as large as there is room.

import { paint } from "./cells.js";
import { createElement, find, signs } from "./elements.js";
import { AXES } from "./sentence_head_words.js";

/** @typedef {import("./sentence_head.js").Sentence} Sentence */

// Pixels: width of a letter, gap, smallest cell, height of a label, and least room for labels and the names of the axes.
const LETTER = 7.2, GAP = 8, LEAST = 4, LINE = 13, CORNER = 48;

/**
 * Sets the size of the map, and of its labels.
 * @param {Sentence} sentence
 */
export function layOutMap({ map, data, width, neutrals }) {
  const letters = Math.max(...data.tokens.map((token) => signs(token).length));
  const room = Math.max(CORNER, Math.round(letters * LETTER) + GAP), ratio = window.devicePixelRatio || 1;
  const cell = Math.max(LEAST, Math.floor((Math.min(data.height, width - room) / data.columns) * ratio) / ratio);
  const canvas = find(map, "canvas", HTMLCanvasElement), side = Math.round(cell * data.columns * ratio);
  if (canvas.width !== side) Object.assign(canvas, { width: side, height: Math.round(cell * data.rows * ratio) });
  map.style.setProperty("--cell", `${cell}px`);
  map.style.setProperty("--room", `${room}px`);
  Object.assign(map.style, { width: `${room + cell * data.columns}px`, height: `${cell * data.rows + room}px` });
  Object.assign(canvas.style, { width: `${cell * data.columns}px`, height: `${cell * data.rows}px` });
  canvas.style.background = `repeating-linear-gradient(-45deg, ${neutrals.masked} 0 3px, ${neutrals.hatch} 3px 5px)`;
  paint(canvas, data, 0);
  setLabels(map, data.tokens, Math.ceil(LINE / cell));
}

/**
 * Labels every token, or every so many where cells are lower than a label.
 * @param {HTMLElement} map
 * @param {string[]} tokens
 * @param {number} step
 */
function setLabels(map, tokens, step) {
  for (const old of map.querySelectorAll("span")) old.remove();
  for (const side of ["down", "across"]) {
    tokens.forEach((token, i) => {
      if (i % step) return;
      const label = createElement("span", side, token);
      label.style.setProperty("--at", `${i}`);
      map.append(label);
    });
  }
  map.append(createElement("span", "axes", AXES));
}

/**
 * Returns the cell under the pointer, the row alone at its label, and null elsewhere.
 * @param {Sentence} sentence
 * @param {MouseEvent} event
 * @returns {import("./sentence_head.js").Pointed | null}
 */
export function spotUnder({ map, data }, event) {
  const box = find(map, "canvas").getBoundingClientRect();
  const row = Math.floor(((event.clientY - box.top) / box.height) * data.rows);
  const column = Math.floor(((event.clientX - box.left) / box.width) * data.columns);
  if (row < 0 || row >= data.rows || column >= data.columns) return null;
  return { row, column: column < 0 ? null : column };
}
