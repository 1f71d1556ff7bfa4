// The picture of a row whose scores can be dragged: logits, their exponentials if the weights are shares of a sum of these,
// and weights, one panel below the other, one column per key.

import { penOf } from "./elements.js";
import { frame, LEFT, logitsPerPixel, names, TITLED } from "./score_bars_layout.js";
import { expFormula, HATCHED, logitTitle, round, weightFormula } from "./score_bars_words.js";
import { hatch } from "./theme.js";

/** @typedef {import("./score_bars.js").Scores} Scores */
/** @typedef {import("./score_bars_layout.js").Frame} Frame */
/** @typedef {import("./score_bars_layout.js").Panel} Panel */

const LABELLED = 0.05;  // weights above it are written on their bars
const TEXT = 12, TITLE = 14;  // sizes of texts

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
  for (const y of [size.zero, ...size.panels.map(({ floor }) => floor)]) pen.fillRect(LEFT, y - 0.5, size.wide - LEFT, 1);
  paintAxes(scores, pen, size);
  if (row) paintWay(scores, pen, size);
  scores.data.logits.forEach((_, key) => paintKey(scores, pen, size, key));
  paintMasked(scores, pen, size);
  paintNames(scores, pen, size);
  if (row) paintTitles(scores, pen, size, row);
  for (const panel of size.panels) paintNumbers(scores, pen, size, panel);
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
function paintWay({ data, key, root }, pen, { column, logits, panels }) {
  const x = LEFT + (data.places[key] + 0.5) * column;
  pen.strokeStyle = getComputedStyle(root).getPropertyValue("--key");
  pen.lineWidth = 1.5;
  pen.setLineDash([2, 4]);
  pen.beginPath();
  for (const [top, floor] of [[TITLED, TITLED + logits], ...panels.map(({ floor, high }) => [floor - high, floor])]) {
    pen.moveTo(x, top);  // not through the titles
    pen.lineTo(x, floor);
  }
  pen.stroke();
  pen.setLineDash([]);
}

/**
 * Writes above each panel how its numbers come from those above it, in bold with those of the moved key; the numbers alone if
 * there is no room for more.
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 * @param {import("./score_bars_words.js").Response} row
 */
function paintTitles(scores, pen, { panels, wide }, row) {
  const { data, neutrals } = scores, formulas = [expFormula(row), weightFormula(row)].slice(-panels.length);
  const tops = [TITLED, ...panels.map(({ floor, high }) => floor - high)];
  Object.assign(pen, { textAlign: "left", textBaseline: "middle" });
  for (const [at, [what, formula]] of [logitTitle(data.changes, row.raised), ...formulas].entries()) {
    const y = tops[at] - TITLED / 2 - 1;
    pen.font = fontOf(scores, TITLE);
    const first = pen.measureText(`${what} `).width;
    pen.font = fontOf(scores, TITLE, true);
    const whole = first + pen.measureText(formula).width, fits = whole <= wide;
    const left = LEFT + whole <= wide ? LEFT : 0;  // beside the numbers of the axes, if there is room
    writeOver(pen, neutrals, formula, fits ? left + first : LEFT, y);
    pen.font = fontOf(scores, TITLE);
    if (fits) writeOver(pen, neutrals, what, left, y);
  }
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
 * Writes the numbers on their bars, those of the moved key and of the largest weight first, and those that would cover
 * another or a taller bar not at all.
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 * @param {Panel} panel
 */
function paintNumbers(scores, pen, { column, wide }, { before, now, top, floor, full, format }) {
  const { data, key: moved, neutrals } = scores, last = now === scores.now;
  const order = now.map((_, key) => key).filter((key) => key === moved || scores.now[key] >= LABELLED);
  order.sort((a, b) => Number(b === moved) - Number(a === moved) || now[b] - now[a]);
  const largest = now[moved] === Math.max(...now) ? moved : now.indexOf(Math.max(...now)), tokens = names(data);
  /** @type {[number, number, number][]} */
  const taken = [];
  Object.assign(pen, { textAlign: "center", textBaseline: "bottom" });
  for (const key of order) {
    const winner = key === largest, share = format(now[key]);
    pen.font = fontOf(scores, TEXT, key === moved || winner);
    const tall = Math.min(Math.max(now[key], before[key]), top), y = floor - (tall / top) * full - 5;
    const text = last && winner && tokens[key] ? `${tokens[key]} ${share}` : share, half = pen.measureText(text).width / 2;
    const middle = Math.max(LEFT + half, Math.min(wide - half, LEFT + (data.places[key] + 0.5) * column));
    const start = (middle - half - LEFT) / column, end = (middle + half - LEFT) / column;
    const covers = now.some((weight, at) => {
      const place = data.places[at];
      return Math.max(weight, before[at]) > tall && place + 0.95 > start && place + 0.05 < end;
    });
    const near = (/** @type {[number, number, number]} */ [x, width, other]) =>
      Math.abs(x - middle) < width + half + 2 && Math.abs(other - y) < TEXT + 2;
    if (taken.some(near) || (covers && key !== moved)) continue;
    taken.push([middle, half, y]);
    writeOver(pen, neutrals, text, middle, y);
  }
}

/**
 * Writes on the hatching what masked keys have, if they are beside each other and leave room for it.
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintMasked({ data, neutrals }, pen, { column, logits, panels }) {
  const places = data.places.filter((_, key) => !Number.isFinite(data.logits[key]));
  const first = Math.min(...places), wide = places.length * column;
  if (Math.max(...places) - first !== places.length - 1) return;
  Object.assign(pen, { textAlign: "center", textBaseline: "middle" });
  const middles = [TITLED + logits / 2, ...panels.map(({ floor, high }) => floor - high / 2)];
  for (const [at, text] of [HATCHED[0], ...panels.map(({ hatched }) => hatched)].entries()) {
    if (pen.measureText(text).width + 8 <= wide) writeOver(pen, neutrals, text, LEFT + first * column + wide / 2, middles[at]);
  }
}

/**
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintAxes({ ends, neutrals }, pen, { zero, logits, panels }) {
  Object.assign(pen, { fillStyle: neutrals.muted, textAlign: "right", textBaseline: "middle" });
  const [low, high] = ends, bottom = TITLED + logits - 4;
  const marks = [
    { [`${high}`]: TITLED + 4, 0: zero, ...(bottom - zero < TEXT ? {} : { [`−${-low}`]: bottom }) },
    ...panels.map(({ floor, full, end }) => ({ [end]: floor - full, 0: floor })),
  ];
  for (const each of marks) for (const [text, y] of Object.entries(each)) pen.fillText(text, LEFT - 6, y);
}

/**
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 * @param {number} key
 */
function paintKey({ data, ends, key: moved, moves, neutrals, root, grip }, pen, { column, zero, logits, panels }, key) {
  const x = LEFT + data.places[key] * column, inset = column > 4 ? column * 0.08 : 0, wide = Math.max(column - 2 * inset, 0.5);
  if (!Number.isFinite(data.logits[key])) {
    pen.fillStyle = hatch(pen, neutrals);
    pen.fillRect(x, TITLED, column, logits);
    for (const { floor, high } of panels) pen.fillRect(x, floor - high, column, high);
    return;
  }
  const style = getComputedStyle(root), color = style.getPropertyValue(key === moved ? "--key" : "--query");
  const logit = data.logits[key] + moves[key], tall = logit / logitsPerPixel({ data, ends });
  pen.fillStyle = color;
  pen.fillRect(x + inset, zero - Math.max(tall, 0), wide, Math.abs(tall));
  for (const { floor, full, before, now, top } of panels) {
    pen.fillStyle = color;
    const share = Math.min(now[key] / top, 1);
    pen.fillRect(x + inset, floor - share * full, wide, share * full);
    if (now[key] > top) paintCut(pen, x + inset, floor - full, wide, neutrals);
    pen.fillStyle = neutrals.text;
    if (before[key] !== now[key]) pen.fillRect(x + inset, floor - (before[key] / top) * full - 1, wide, 2);
  }
  if (key !== moved) return;
  paintGrip(pen, x + column / 2, zero - tall, neutrals, color, round(logit));
  Object.assign(grip.style, { left: `${x + column / 2}px`, top: `${zero - tall}px` });
}

/**
 * Draws two gaps below the end of a bar that is cut.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} y
 * @param {number} wide
 * @param {import("./theme.js").Ground} neutrals
 */
function paintCut(pen, x, y, wide, { background }) {
  pen.fillStyle = background;
  for (const gap of [8, 14]) {
    pen.beginPath();
    pen.moveTo(x - 1, y + gap);
    pen.lineTo(x + wide + 1, y + gap - 5);
    pen.lineTo(x + wide + 1, y + gap - 2);
    pen.lineTo(x - 1, y + gap + 3);
    pen.fill();
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
  const above = y > TITLED + TEXT + 8;  // otherwise beside it
  Object.assign(pen, { textAlign: above ? "center" : "right", textBaseline: above ? "bottom" : "middle" });
  writeOver(pen, neutrals, logit, above ? x : x - 11, above ? y - 9 : y);
}

/**
 * @param {Scores} scores
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} size
 */
function paintNames({ data, neutrals, key: moved }, pen, { column, panels, wide }) {
  const { floor } = panels[panels.length - 1], { logits, places } = data;
  const tokens = names(data), apart = Math.ceil((TEXT + 2) / column);
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
