// The picture of a row whose scores can be dragged: logits above, weights below, one column per key.

import { penOf, signs } from "./elements.js";
import { beforeAndNow, LOGITS, WEIGHTS } from "./score_bars_words.js";
import { hatch } from "./theme.js";

/** @typedef {import("./score_bars.js").Scores} Scores */

const LEFT = 46, TOP = 8, HIGH = 160, GAP = 26, LOW = 140;  // pixels: room for the axis, and the two panels
const NAMED = 48, LETTERS = 10, TEXT = 12;  // most keys with a token below, its letters, and size of the text
const NUMBERED = 22, LETTER = 7;  // pixels below without tokens, and the width of a letter

/**
 * @typedef {object} Frame
 * @property {number} wide
 * @property {number} high
 * @property {number} column  the width of a key
 * @property {number} zero  the height of logit 0
 * @property {number} floor  that of weight 0
 */

/**
 * @param {Scores} scores
 * @returns {Frame}
 */
function frame({ data, width }) {
  const floor = TOP + HIGH + GAP + LOW, longest = Math.max(0, ...names(data).map((name) => signs(name).length));
  const bottom = Math.max(NUMBERED, 12 + longest * LETTER);
  const [low, end] = data.ends, zero = TOP + (HIGH * end) / (end - low);
  return { wide: width, high: floor + bottom, column: (width - LEFT) / data.logits.length, zero, floor };
}

/**
 * Returns the tokens below the columns, cut if they are long; none if there are too many.
 * @param {import("./score_bars.js").ScoresData} data
 */
function names({ tokens }) {
  if (tokens.length > NAMED) return [];
  return tokens.map((token) => {
    const letters = signs(token);
    return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join("")}…` : token;
  });
}

/**
 * Returns how much a logit changes per pixel.
 * @param {Pick<Scores, "data">} scores
 */
export function logitsPerPixel({ data }) {
  return (data.ends[1] - data.ends[0]) / HIGH;
}

/**
 * Returns the key under the pointer, -1 beside all columns.
 * @param {Scores} scores
 * @param {MouseEvent} event
 */
export function keyAt(scores, event) {
  const x = event.clientX - scores.canvas.getBoundingClientRect().left - LEFT;
  return x < 0 ? -1 : scores.data.places.indexOf(Math.floor(x / frame(scores).column));
}

/**
 * Whether the pointer is over the panel of logits.
 * @param {Scores} scores
 * @param {MouseEvent} event
 */
export function overLogits({ canvas }, event) {
  return event.clientY - canvas.getBoundingClientRect().top < TOP + HIGH + GAP / 2;
}

/** @param {Scores} scores */
export function paint(scores) {
  const { canvas, neutrals } = scores, size = frame(scores), ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(size.wide * ratio), height: Math.round(size.high * ratio) });
  Object.assign(canvas.style, { width: `${size.wide}px`, height: `${size.high}px` });
  const pen = penOf(canvas);
  pen.scale(ratio, ratio);
  pen.font = `${TEXT}px ${getComputedStyle(canvas).fontFamily}`;
  pen.fillStyle = neutrals.line;
  for (const y of [size.zero, size.floor]) pen.fillRect(LEFT, y - 0.5, size.wide - LEFT, 1);
  paintAxes(scores, pen, size);
  scores.data.logits.forEach((_, key) => paintKey(scores, pen, size, key));
  paintNames(scores, pen, size);
  paintChange(scores, pen, size);
}

/**
 * Writes the weight of the moved key before and now above its bar.
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintChange({ data, before, now, key, by, top, neutrals }, pen, { column, floor, wide }) {
  if (!by) return;
  const text = beforeAndNow(before[key], now[key]), half = pen.measureText(text).width / 2;
  const middle = Math.max(LEFT + half, Math.min(wide - half, LEFT + (data.places[key] + 0.5) * column));
  const highest = floor - (Math.max(before[key], now[key]) / top) * LOW - 5;  // the gap between the panels has room for it
  Object.assign(pen, { textAlign: "center", textBaseline: "bottom", lineJoin: "round" });
  Object.assign(pen, { fillStyle: neutrals.text, strokeStyle: neutrals.background, lineWidth: 4 });
  pen.strokeText(text, middle, highest);
  pen.fillText(text, middle, highest);
}

/**
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintAxes({ data, neutrals, top }, pen, { zero, floor }) {
  Object.assign(pen, { fillStyle: neutrals.muted, textAlign: "right", textBaseline: "middle" });
  const logits = { [`${data.ends[1]}`]: TOP + 4, 0: zero, [`−${-data.ends[0]}`]: TOP + HIGH - 4 };
  const weights = { [`${Number(top.toPrecision(3))}`]: floor - LOW + 4, 0: floor };
  for (const marks of [logits, weights]) for (const [text, y] of Object.entries(marks)) pen.fillText(text, LEFT - 6, y);
  pen.fillStyle = neutrals.text;
  for (const [text, middle] of /** @type {[string, number][]} */ ([[LOGITS, TOP + HIGH / 2], [WEIGHTS, floor - LOW / 2]])) {
    pen.save();
    pen.translate(8, middle);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(text, 0, 0);
    pen.restore();
  }
}

/**
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 * @param {number} key
 */
function paintKey({ data, before, now, key: moved, by, top, neutrals, root }, pen, { column, zero, floor }, key) {
  const x = LEFT + data.places[key] * column, inset = column > 4 ? column * 0.08 : 0, wide = Math.max(column - 2 * inset, 0.5);
  if (!Number.isFinite(data.logits[key])) {
    pen.fillStyle = hatch(pen, neutrals);
    pen.fillRect(x, TOP, column, HIGH);
    pen.fillRect(x, floor - LOW, column, LOW);
    return;
  }
  const style = getComputedStyle(root), color = style.getPropertyValue(key === moved ? "--key" : "--query");
  const logit = data.logits[key] + (key === moved ? by : 0), tall = logit / logitsPerPixel({ data });
  pen.fillStyle = color;
  pen.fillRect(x + inset, zero - Math.max(tall, 0), wide, Math.abs(tall));
  pen.fillRect(x + inset, floor - (now[key] / top) * LOW, wide, (now[key] / top) * LOW);
  if (key === moved) paintGrip(pen, x + column / 2, zero - tall, neutrals.text, color);
  if (by) {
    pen.fillStyle = neutrals.text;
    pen.fillRect(x + inset, floor - (before[key] / top) * LOW - 1, wide, 2);
  }
}

/**
 * Draws what is gripped at the end of a bar.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} y
 * @param {string} line
 * @param {string} color
 */
function paintGrip(pen, x, y, line, color) {
  pen.beginPath();
  pen.arc(x, y, 6, 0, 2 * Math.PI);
  Object.assign(pen, { fillStyle: color, strokeStyle: line, lineWidth: 1.5 });
  pen.fill();
  pen.stroke();
}

/**
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintNames({ data, neutrals, key: moved }, pen, { column, floor, wide }) {
  const { logits, places } = data, tokens = names(data), apart = Math.ceil((TEXT + 2) / column);
  Object.assign(pen, { fillStyle: neutrals.muted, textBaseline: "middle" });
  if (!tokens.length) {
    Object.assign(pen, { textBaseline: "top", textAlign: "left" });
    pen.fillText("0", LEFT, floor + 5);
    pen.textAlign = "right";
    pen.fillText(`${logits.length - 1}`, wide, floor + 5);
    return;
  }
  tokens.forEach((token, key) => {
    if (places[key] % apart && key !== moved) return;
    pen.save();
    pen.translate(LEFT + (places[key] + 0.5) * column, floor + 5);
    pen.rotate(-Math.PI / 2);
    Object.assign(pen, { textAlign: "right", fillStyle: key === moved ? neutrals.text : neutrals.muted });
    pen.fillText(token, 0, 0);
    pen.restore();
  });
}
