// Where the panels of a row whose scores can be dragged are, and what is under the pointer.

import { signs } from "./elements.js";
import { axisLabel, expLabel, figure, formatOf, HATCHED } from "./score_bars_words.js";

/** @typedef {import("./score_bars.js").Scores} Scores */

export const LEFT = 40, TITLED = 28;  // pixels: room for the axis, and for the title of a panel
const THREE = [92, 86, 118], TWO = [158, 134];  // heights of the panels
const ROOM = 18;  // pixels of the panels of bars above the end of their axis, for numbers
const NAMED = 48, LETTERS = 10;  // most keys with a token below, and its letters
const NUMBERED = 22, LETTER = 7;  // pixels below without tokens, and the width of a letter

/**
 * Bars from a floor upwards: their heights now and before the change as shares of the axis, and how both are written.
 * @typedef {object} Panel
 * @property {number} floor
 * @property {number} high
 * @property {number} full  the height of a bar that reaches the end of the axis
 * @property {number[]} before
 * @property {number[]} now
 * @property {number} top  the end of the axis
 * @property {string} end  the end of the axis in words
 * @property {string} hatched  what is written on the masked keys
 * @property {(value: number) => string} format
 */

/**
 * @typedef {object} Frame
 * @property {number} wide
 * @property {number} high
 * @property {number} column  the width of a key
 * @property {number} zero  the height of logit 0
 * @property {number} logits  the height of the panel of logits
 * @property {Panel[]} panels  those below it
 */

/**
 * @param {Scores} scores
 * @returns {Frame}
 */
export function frame({ data, ends, width, before, now, top, exps }) {
  const longest = Math.max(0, ...names(data).map((name) => signs(name).length)), [logits, ...others] = heights(data);
  const weights = { before, now, top, end: axisLabel(top, data.form), hatched: HATCHED[2], format: formatOf(data.form) };
  const powers = { ...exps, end: expLabel(exps.top), hatched: HATCHED[1], format: figure };
  let floor = TITLED + logits;
  const panels = (others.length > 1 ? [powers, weights] : [weights]).map((panel, at) => {
    floor += TITLED + others[at];
    return { ...panel, floor, high: others[at], full: others[at] - ROOM };
  });
  const [low, end] = ends, zero = TITLED + (logits * end) / (end - low), bottom = Math.max(NUMBERED, 12 + longest * LETTER);
  return { wide: width, high: floor + bottom, column: (width - LEFT) / data.logits.length, zero, logits, panels };
}

/** @param {Pick<import("./score_bars.js").ScoresData, "form">} data */
function heights({ form }) {
  return form.kind === "softmax" ? THREE : TWO;
}

/**
 * Returns the tokens below the columns, cut if they are long; none if there are too many.
 * @param {import("./score_bars.js").ScoresData} data
 */
export function names({ tokens }) {
  if (tokens.length > NAMED) return [];
  return tokens.map((token) => {
    const letters = signs(token);
    return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join("")}…` : token;
  });
}

/**
 * Returns how much a logit changes per pixel.
 * @param {Pick<Scores, "data" | "ends">} scores
 */
export function logitsPerPixel({ data, ends }) {
  return (ends[1] - ends[0]) / heights(data)[0];
}

/**
 * Returns the key under the pointer, -1 beside all columns.
 * @param {Scores} scores
 * @param {MouseEvent} event
 */
export function keyAt(scores, event) {
  const x = event.clientX - scores.canvas.getBoundingClientRect().left - LEFT;
  return x < 0 ? -1 : scores.data.places.indexOf(Math.floor((x * scores.data.logits.length) / (scores.width - LEFT)));
}

/**
 * Whether the pointer is over the panel of logits.
 * @param {Scores} scores
 * @param {MouseEvent} event
 */
export function overLogits({ canvas, data }, event) {
  return event.clientY - canvas.getBoundingClientRect().top < TITLED + heights(data)[0] + TITLED / 3;
}
