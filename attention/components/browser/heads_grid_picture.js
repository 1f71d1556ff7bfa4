// All heads as one picture with titles, axes and colour bar, at twice the resolution of the page or more.

import { find, createElement, penOf, saveAs } from "./elements.js";
import { GAP } from "./heads_grid_square.js";
import { ticks } from "./heads_grid_scale.js";
import { MASKED_CELLS, scaleOfFile } from "./heads_grid_words.js";
import { hatch } from "./theme.js";

/** @typedef {import("./heads_grid_layout.js").Grid} Grid */

/** @param {Grid} grid */
export function savePicture(grid) {
  saveAs(picture(grid), "attention-heads.png");
}

/** @param {Grid} grid */
function picture(grid) {
  const { heads } = grid, around = 16, foot = 46;
  const canvas = createElement("canvas"), pen = penOf(canvas), fine = Math.max(2, grid.plan.ratio);
  canvas.width = (heads.offsetWidth + 2 * around) * fine;
  canvas.height = (heads.offsetHeight + 2 * around + foot) * fine;
  pen.scale(fine, fine);
  pen.imageSmoothingEnabled = false;
  pen.fillStyle = grid.neutrals.background;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.translate(around, around);
  const origin = heads.getBoundingClientRect();
  const shown = [...(grid.before ? [grid.before] : []), grid.large, ...(grid.squares.hidden ? [] : grid.figures)];
  for (const figure of shown) drawHead(pen, grid, figure, origin);
  for (const { element } of grid.figures) if (element.matches(".grouped")) drawBracket(pen, grid, element, origin);
  const texts = heads.querySelectorAll("figcaption b, figcaption span, .axis, .label");
  for (const text of texts) if (text instanceof HTMLElement && text.offsetParent) write(pen, text, origin);
  pen.translate(grid.plan.margin, heads.offsetHeight + 8);
  drawScale(pen, grid, Math.min(260, heads.offsetWidth - grid.plan.margin));
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Grid} grid
 * @param {import("./heads_grid_layout.js").Figure} figure
 * @param {DOMRect} origin
 */
function drawHead(pen, grid, { canvas }, origin) {
  const box = canvas.getBoundingClientRect();
  const [x, y] = [box.left - origin.left, box.top - origin.top];
  pen.fillStyle = hatch(pen, grid.neutrals);
  pen.fillRect(x, y, box.width, box.height);
  pen.drawImage(canvas, x, y, box.width, box.height);
  pen.strokeStyle = grid.neutrals.line;
  pen.strokeRect(x - 0.5, y - 0.5, box.width + 1, box.height + 1);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Grid} grid
 * @param {HTMLElement} figure
 * @param {DOMRect} origin
 */
function drawBracket(pen, grid, figure, origin) {
  const box = figure.getBoundingClientRect(), more = figure.classList.contains("joined") ? GAP : 0;
  pen.fillStyle = grid.neutrals.muted;
  pen.fillRect(box.left - origin.left, box.top - origin.top, box.width + more, 2);
}

/**
 * Draws a text at its position on the page, horizontal or vertical.
 * @param {CanvasRenderingContext2D} pen
 * @param {HTMLElement} element
 * @param {DOMRect} origin
 */
function write(pen, element, origin) {
  const box = element.getBoundingClientRect(), style = getComputedStyle(element);
  const turned = style.writingMode !== "horizontal-tb", up = element.classList.contains("across");
  pen.save();
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  pen.fillStyle = style.color;
  pen.textBaseline = "middle";
  pen.textAlign = element.matches(".down, .across") ? "right" : "left";
  pen.translate(box.left - origin.left + box.width / 2, box.top - origin.top + box.height / 2);
  if (turned) pen.rotate(up ? -Math.PI / 2 : Math.PI / 2);
  const long = turned ? box.height : box.width, dot = element.matches("figcaption b") && !element.closest(".dotless") ? 11 : 0;
  pen.fillText(element.textContent ?? "", (pen.textAlign === "right" ? long : -long) / 2 + dot, 0, long);
  if (dot) {
    pen.fillStyle = element.closest("figure")?.style.getPropertyValue("--head") ?? "";
    pen.fill(new Path2D(`M${-long / 2} 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`));
  }
  pen.restore();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Grid} grid
 * @param {number} width
 */
function drawScale(pen, grid, width) {
  const { data, neutrals, root } = grid;
  pen.drawImage(find(root, ".bar", HTMLCanvasElement), 0, 0, width, 10);
  pen.strokeStyle = neutrals.line;
  pen.strokeRect(-0.5, -0.5, width + 1, 11);
  pen.fillStyle = neutrals.muted;
  pen.font = `10px ${getComputedStyle(root).fontFamily}`;
  const marks = ticks(data);
  marks.forEach(([at, text], i) => {
    pen.textAlign = i === 0 ? "left" : i === marks.length - 1 ? "right" : "center";
    pen.fillText(text, at * width, 22);
  });
  pen.textAlign = "left";
  pen.fillText(scaleOfFile(find(root, ".scale-name").textContent ?? ""), 0, 36);
  pen.fillText(MASKED_CELLS, width + 34, 8);
  pen.fillStyle = hatch(pen, neutrals);
  pen.fillRect(width + 14, 0, 15, 10);
}
