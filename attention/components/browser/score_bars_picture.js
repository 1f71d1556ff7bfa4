// The picture of a row whose scores can be dragged: logits above, weights below, one column per key.

import { penOf, signs } from "./elements.js";
import { axisLabel, beforeAndNow, formatOf, HATCHED, logitTitle, round, weightFormula } from "./score_bars_words.js";
import { hatch } from "./theme.js";

/** @typedef {import("./score_bars.js").Scores} Scores */

const LEFT = 40, TOP = 30, HIGH = 160, GAP = 40, LOW = 130;  // pixels: room for the axis, and the two panels below their titles
const LABELLED = 0.05;  // weights above it are written on their bars
const NAMED = 48, LETTERS = 10, TEXT = 12, TITLE = 14;  // most keys with a token below, its letters, and sizes of texts
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

/**
 * @param {Scores} scores
 * @param {import("./score_bars_words.js").Response | null} row  what the moved key is, null if all are masked
 */
export function paint(scores, row) {
  const { canvas, neutrals } = scores, size = frame(scores), ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(size.wide * ratio), height: Math.round(size.high * ratio) });
  Object.assign(canvas.style, { width: `${size.wide}px`, height: `${size.high}px` });
  const pen = penOf(canvas);
  pen.scale(ratio, ratio);
  pen.font = fontOf(scores, TEXT);
  pen.fillStyle = neutrals.line;
  for (const y of [size.zero, size.floor]) pen.fillRect(LEFT, y - 0.5, size.wide - LEFT, 1);
  paintAxes(scores, pen, size);
  if (row) paintWay(scores, pen, size);
  scores.data.logits.forEach((_, key) => paintKey(scores, pen, size, key));
  paintMasked(scores, pen, size);
  paintNames(scores, pen, size);
  if (row) paintTitle(scores, pen, size, row);
  paintWeights(scores, pen, size);
}

/**
 * @param {Scores} scores
 * @param {number} size  in pixels
 * @param {boolean} [bold]
 */
function fontOf({ canvas }, size, bold = false) {
  return `${bold ? "600 " : ""}${size}px ${getComputedStyle(canvas).fontFamily}`;
}

/**
 * Draws the rail on which the logit of the moved key is dragged, and the way from its logit to its weight.
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintWay({ data, key, root }, pen, { column, floor }) {
  const x = LEFT + (data.places[key] + 0.5) * column;
  pen.strokeStyle = getComputedStyle(root).getPropertyValue("--key");
  pen.lineWidth = 1.5;
  pen.setLineDash([2, 4]);
  pen.beginPath();
  pen.moveTo(x, TOP);
  pen.lineTo(x, floor);
  pen.stroke();
  pen.setLineDash([]);
}

/**
 * Writes what a logit is above the upper bars, and how the weight of the moved key is computed above the lower ones, without
 * its name if there is no room for it.
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 * @param {import("./score_bars_words.js").Response} row
 */
function paintTitle(scores, pen, { floor, wide }, row) {
  const { data, neutrals } = scores, [who, formula] = weightFormula(row), y = floor - LOW - GAP / 2 + 2;
  Object.assign(pen, { textAlign: "left", textBaseline: "middle", font: fontOf(scores, TITLE) });
  writeOver(pen, neutrals, logitTitle(data.changes), 0, TOP / 2 - 3);
  const first = pen.measureText(`${who} `).width;
  pen.font = fontOf(scores, TITLE, true);
  const fits = first + pen.measureText(formula).width <= wide;
  writeOver(pen, neutrals, formula, fits ? first : 0, y);
  pen.font = fontOf(scores, TITLE);
  if (fits) writeOver(pen, neutrals, who, 0, y);
  pen.font = fontOf(scores, TEXT);
}

/**
 * Writes a text on whatever is drawn there.
 * @param {CanvasRenderingContext2D} pen
 * @param {import("./theme.js").Ground} neutrals
 * @param {string} text
 * @param {number} x
 * @param {number} y
 */
function writeOver(pen, neutrals, text, x, y) {
  Object.assign(pen, { fillStyle: neutrals.text, strokeStyle: neutrals.background, lineWidth: 5, lineJoin: "round" });
  pen.strokeText(text, x, y);
  pen.fillText(text, x, y);
}

/**
 * Writes the weights on their bars, the moved one and the largest first, and those that would cover another or a
 * taller bar not at all.
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintWeights(scores, pen, { column, floor, wide }) {
  const { data, before, now, key: moved, by, top, neutrals } = scores;
  const order = now.map((_, key) => key).filter((key) => key === moved || now[key] >= LABELLED);
  order.sort((a, b) => Number(b === moved) - Number(a === moved) || now[b] - now[a]);
  const largest = now[moved] === Math.max(...now) ? moved : now.indexOf(Math.max(...now));
  const format = formatOf(data.form), tokens = names(data);
  /** @type {[number, number, number][]} */
  const taken = [];
  Object.assign(pen, { textAlign: "center", textBaseline: "bottom" });
  for (const key of order) {
    const change = key === moved && by, winner = key === largest;
    const share = change ? beforeAndNow(before[key], now[key], data.form) : format(now[key]);
    pen.font = fontOf(scores, TEXT, key === moved || winner);
    const text = winner && tokens[key] ? `${tokens[key]} ${share}` : share, half = pen.measureText(text).width / 2;
    const middle = Math.max(LEFT + half, Math.min(wide - half, LEFT + (data.places[key] + 0.5) * column));
    const tall = (Math.max(now[key], by ? before[key] : 0) / top) * LOW, y = floor - Math.min(tall + 5, LOW - TEXT - 2);
    const first = (middle - half - LEFT) / column, last = (middle + half - LEFT) / column;
    const covers = now.some((weight, at) => {
      const place = data.places[at];
      return weight > now[key] && place + 0.95 > first && place + 0.05 < last;
    });
    const touches = taken.some(([x, width, other]) => Math.abs(x - middle) < width + half + 2 && Math.abs(other - y) < TEXT + 2);
    if (touches || (covers && key !== moved)) continue;
    taken.push([middle, half, y]);
    writeOver(pen, neutrals, text, middle, y);
  }
}

/**
 * Writes what the hatching means, if the masked keys are beside each other and leave room for it.
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintMasked({ data, neutrals }, pen, { column }) {
  const places = data.places.filter((_, key) => !Number.isFinite(data.logits[key]));
  const first = Math.min(...places), wide = places.length * column;
  if (Math.max(...places) - first !== places.length - 1 || pen.measureText(HATCHED).width + 8 > wide) return;
  Object.assign(pen, { textAlign: "center", textBaseline: "middle" });
  writeOver(pen, neutrals, HATCHED, LEFT + first * column + wide / 2, TOP + HIGH / 2);
}

/**
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintAxes({ data, neutrals, top }, pen, { zero, floor }) {
  Object.assign(pen, { fillStyle: neutrals.muted, textAlign: "right", textBaseline: "middle" });
  const [low, high] = data.ends, bottom = TOP + HIGH - 4;
  const logits = { [`${high}`]: TOP + 4, 0: zero, ...(bottom - zero < TEXT ? {} : { [`−${-low}`]: bottom }) };
  const weights = { [axisLabel(top, data.form)]: floor - LOW + 4, 0: floor };
  for (const marks of [logits, weights]) for (const [text, y] of Object.entries(marks)) pen.fillText(text, LEFT - 6, y);
}

/**
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 * @param {number} key
 */
function paintKey({ data, before, now, key: moved, by, top, neutrals, root, grip }, pen, { column, zero, floor }, key) {
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
  if (key === moved) paintGrip(pen, x + column / 2, zero - tall, neutrals, color, round(logit));
  if (key === moved) Object.assign(grip.style, { left: `${x + column / 2}px`, top: `${zero - tall}px` });
  if (by) {
    pen.fillStyle = neutrals.text;
    pen.fillRect(x + inset, floor - (before[key] / top) * LOW - 1, wide, 2);
  }
}

/**
 * Draws what is gripped at the end of a bar, and its logit.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} y
 * @param {import("./theme.js").Ground} neutrals
 * @param {string} color
 * @param {string} logit
 */
function paintGrip(pen, x, y, neutrals, color, logit) {
  pen.beginPath();
  pen.arc(x, y, 6, 0, 2 * Math.PI);
  Object.assign(pen, { fillStyle: color, strokeStyle: neutrals.text, lineWidth: 1.5 });
  pen.fill();
  pen.stroke();
  const above = y > TOP + TEXT + 8;  // otherwise beside it
  Object.assign(pen, { textAlign: above ? "center" : "right", textBaseline: above ? "bottom" : "middle" });
  writeOver(pen, neutrals, logit, above ? x : x - 11, above ? y - 9 : y);
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
