// Heads of a training: the selected one before the first step and at a step, beside each other, below the tokens of its row;
// all heads are small squares below, layer by layer.

import { cellAt, MASKED } from "./cells.js";
import { createElement, find, scrollToStart, signs } from "./elements.js";
import { labelSelected, roomOf, setLarge } from "./heads_grid_large.js";
import { createFigure, EDGE, GAP, paintHead, snapSide } from "./heads_grid_square.js";
import { BEFORE, correct, layerTitle, stepTitle, titleOf, weightOfHead } from "./heads_grid_words.js";
import { shadeChip } from "./theme.js";

/**
 * @typedef {import("./heads_grid_layout.js").Grid} Grid
 * @typedef {import("./heads_grid_layout.js").GridData} GridData
 * @typedef {import("./heads_grid_layout.js").Plan} Plan
 */

const LEAST_HIGH = 240, SHARE_HIGH = 0.4, SMALL = 96;  // pixels, and the share of the window's height of a large square
const ROW = 8, NARROW_ROW = 4;  // squares side by side, at most
const TITLE = [40, 22], LAYER = 17, CAPTION = 44;  // heights: of a large title (narrow, wide), of a layer's, of a caption
const ABOVE = 340;  // pixels above the picture that stay visible: the finding and the controls
const CHIP = [11, 9];  // pixels of a token without its letters, and per letter

/**
 * Returns the message with the number of heads: the second half of its codes is the same heads before the first step.
 * @param {GridData} data
 * @returns {GridData}
 */
export function splitTrained(data) {
  return data.trained ? { ...data, heads: data.heads / 2 } : data;
}

/**
 * Returns the size of both large squares, and of the squares below them.
 * @param {GridData} data
 * @param {number} width
 * @returns {Plan}
 */
export function arrangeTrained(data, width) {
  const { wide, room, area } = roomOf(data, width), per = data.per ?? data.heads;
  const half = Math.floor((area - room - EDGE - GAP) / 2), high = Math.max(LEAST_HIGH, SHARE_HIGH * window.innerHeight);
  const large = { ...snapSide({ side: Math.max(24, Math.floor(wide ? Math.min(half, high) : half)) }, data), room };
  const most = wide ? ROW : NARROW_ROW, columns = wide && data.heads <= ROW ? data.heads : Math.min(per, most);
  const whole = wide ? area + room : 2 * (room + large.width) + GAP;
  const side = Math.floor((whole - 2 * EDGE - GAP * (columns - 1)) / columns);
  const rows = Math.ceil(data.heads / columns), small = Math.max(24, Math.min(SMALL, side));
  const gridHeight = TITLE[Number(wide)] + large.height + room + rows * (GAP + LAYER + CAPTION + small);
  const shown = { wide, columns, side: small, margin: EDGE, below: wide ? 0 : 12, gridHeight, stacked: true };
  return { ...snapSide(shown, data), large };
}

/**
 * Adds the square of the head before the first step, and the titles of layers.
 * @param {Grid} grid
 * @param {import("./heads_grid_large.js").Large} plan
 */
export function setTrained(grid, plan) {
  const { heads, large, data, root } = grid, before = (grid.before ??= createBefore());
  root.classList.add("trained");
  const { wide, area } = roomOf(data, grid.width);
  heads.style.width = `${wide ? area + plan.room : 2 * (plan.room + plan.width) + GAP}px`;
  for (const figure of [before, large]) {
    setLarge(figure, data, plan);
    figure.element.style.width = `${plan.width}px`;
  }
  if (!before.element.isConnected) heads.prepend(before.element, large.element);
  grid.figures.forEach(({ element }, h) => {
    const per = data.per ?? data.heads;
    if (h % per === 0) element.append(createElement("span", "axis", layerTitle(h / per)));
  });
}

function createBefore() {
  const figure = createFigure("large");
  figure.square.dataset.before = "";
  return figure;
}

/**
 * Paints the selected head before the first step, and writes how often the model was right then and is now. Before the
 * first step there is one square only.
 * @param {Grid} grid
 */
export function showTrained(grid) {
  const { root, data, cursor, before, large, plan } = grid;
  if (!data.trained || !before) return;
  scrollToLesson(grid, data.trained.lessons);
  root.classList.toggle("untrained", !data.trained.step);
  paintHead(before, data, data.heads + cursor.head);
  const { step, accuracy } = data.trained, titles = [BEFORE, stepTitle(step)];
  [before, large].forEach(({ element }, i) => {
    element.style.setProperty("--head", data.head_colors[cursor.head % data.head_colors.length]);
    find(element, "figcaption b").textContent = titles[i];
    find(element, "figcaption span").textContent = correct(accuracy[i]);
  });
  for (const { square } of [before, large]) labelSelected(square, data, plan.large, cursor);
}

/**
 * Scrolls to the picture, with what is above it, if the user began another of the trainings that fail, far below.
 * @param {Grid} grid
 * @param {number} lessons  begun so far
 */
function scrollToLesson(grid, lessons) {
  const { root, lessons: known = lessons } = grid;
  grid.lessons = lessons;
  if (lessons === known) return;
  scrollToStart(root, `${ABOVE}px`);
}

/**
 * Shades the tokens by the row of a cell, and marks the one that comes next, which a head can't see.
 * @param {Grid} grid
 * @param {import("./cells.js").Cell} cell
 */
export function setTokens({ root, data }, { head, row }) {
  const { trained, tokens } = data, line = find(root, ".tokens");
  line.hidden = !trained;
  if (!trained) return;
  const chips = [...tokens, trained.last].map((token, key) => {
    const { weight, code } = key < tokens.length ? cellAt(data, head, row, key) : { weight: 0, code: MASKED };
    const chip = createElement("span", "", token), kinds = chip.classList;
    if (key < tokens.length) chip.dataset.row = `${key}`;
    shadeChip(chip, weight, data);
    kinds.toggle("masked", code === MASKED && key !== row + 1);
    kinds.toggle("current", key === row);
    kinds.toggle("next", key === row + 1);
    kinds.toggle("copy", trained.copies && key < row && token === tokens[row]);
    return chip;
  });
  const longest = Math.max(...tokens.map((token) => signs(token).length));
  line.style.setProperty("--chip", `${CHIP[0] + CHIP[1] * longest}px`);
  find(line, ".chips").replaceChildren(...chips);
  find(line, ".whose").textContent = weightOfHead(titleOf(data, head));
  find(line, ".of-copy").hidden = !trained.copies;
}
