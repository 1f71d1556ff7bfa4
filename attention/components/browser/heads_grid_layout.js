// The layout of the grid: squares, titles, axes and labels. Sizes are whole CSS pixels.

import { arrangeLarge, setAxes, setLarge } from "./heads_grid_large.js";
import { createFigure, EDGE, GAP, isRoomy, setSquare } from "./heads_grid_square.js";
import { arrangeTrained, setTrained } from "./heads_grid_trained.js";

/**
 * @typedef {Omit<import("./message.js").GridHeader, "places" | "sums"> & import("./cells.js").Bytes} GridData
 * @typedef {import("./cells.js").Cell & { shown?: import("./cells.js").Cell }} Spot  a position of the cursor
 */

/**
 * The square of a head and what was last painted into it.
 * @typedef {object} Figure
 * @property {HTMLElement} element
 * @property {HTMLElement} square
 * @property {HTMLCanvasElement} canvas
 * @property {{ codes: Uint16Array, signs: Uint8Array, seeing: Float32Array, key: string } | null} painted
 */

/**
 * Number of columns and side of the squares, in CSS pixels; `pixelHeight` and `pixelWidth` are in device pixels, `ratio` of
 * which are one CSS pixel.
 * @typedef {object} Fit
 * @property {boolean} wide
 * @property {number} columns
 * @property {number} side
 * @property {number} margin
 * @property {number} below
 * @property {number} [panel]  width of the readout, if it is not what is left
 * @property {number} [gridHeight]  height of the grid, if it is not the given one
 * @property {boolean} [stacked]  whether names are below the numbers of heads
 * @property {boolean} [wrapped]  whether these names may take two lines
 * @property {boolean} [brief]  whether names are short and beside the numbers of heads, without the dot of their colour
 * @property {number} [track]  width of a column of squares, if their names need more than the squares
 * @typedef {{ ratio: number, pixelHeight: number, pixelWidth: number, height: number, width: number }} Size
 * @typedef {Size & { cell: { height: number, width: number } }} Square
 * @typedef {Fit & Square & { large: import("./heads_grid_large.js").Large }} Plan
 */

/**
 * @typedef {object} Grid
 * @property {HTMLElement} root
 * @property {HTMLElement} heads  the large head and all squares
 * @property {HTMLElement} squares
 * @property {Figure} large
 * @property {Figure} [before]  the selected head before training, if the grid shows one
 * @property {number} [lessons]  trainings that fail that were begun when it was last drawn
 * @property {HTMLElement} spread
 * @property {HTMLDetailsElement} details
 * @property {import("./heads_grid_readout.js").Readout} readout  the elements of the readout, by name
 * @property {import("./heads_grid.js").Ways} ways
 * @property {GridData} data
 * @property {Figure[]} figures
 * @property {Plan} plan
 * @property {import("./theme.js").Ground} neutrals
 * @property {number} width  the width for which it is laid out
 * @property {string} laidOutFor  all that the current layout depends on
 * @property {Spot} cursor
 * @property {Spot} home  where Escape moves the cursor
 * @property {import("./message.js").Focus} told  the last selection by the server
 * @property {boolean} followed  whether the cursor is where the server last put it
 * @property {Spot | null} hover
 * @property {MouseEvent | null} pointer
 * @property {boolean} keyed
 * @property {string[]} sent
 * @property {number} count
 * @property {number} timer  0 if none is running
 * @property {boolean} pending
 * @property {number} snapping  the timer after which the squares are aligned again
 */

/**
 * Returns columns and side of the squares, and the size of the large head, or of both large squares of a training.
 * @param {GridData} data
 * @param {number} width
 * @returns {Plan}
 */
export function arrangeSquares(data, width) {
  return data.trained ? arrangeTrained(data, width) : arrangeLarge(data, width);
}

/**
 * Adds or removes figures until there is one per head.
 * @param {Grid} grid
 */
export function setFigures({ squares, figures, data }) {
  while (figures.length > data.heads) figures.pop()?.element.remove();
  while (figures.length < data.heads) {
    const figure = createFigure("square");
    figure.square.dataset.head = `${figures.length}`;
    figures.push(figure);
    squares.append(figure.element);
  }
}

/**
 * Sets sizes and labels, unless they are the same as before: a new weight alone moves nothing.
 * @param {Grid} grid
 * @param {Plan} plan
 */
export function setLayout(grid, plan) {
  const { height, tokens, key_tokens, tile, heads } = grid.data;
  const laidOutFor = JSON.stringify([plan, height, tokens, key_tokens, tile, heads]);
  if (grid.laidOutFor === laidOutFor) return;
  Object.assign(grid, { plan, laidOutFor });
  const { squares, root } = grid;
  root.classList.toggle("wide", plan.wide);
  root.style.minHeight = plan.wide ? `${plan.gridHeight ?? grid.data.height}px` : "";
  root.style.setProperty("--panel", plan.panel ? `${plan.panel}px` : "");
  root.style.setProperty("--map-left", `${plan.large.room}px`);
  root.style.setProperty("--map-width", `${plan.large.width}px`);
  squares.style.padding = `0 ${EDGE}px ${plan.below}px ${plan.margin}px`;
  squares.style.gap = `${GAP}px`;
  squares.style.setProperty("--gap", `${GAP}px`);
  squares.style.gridTemplateColumns = `repeat(${plan.columns}, ${plan.track ?? plan.width}px)`;
  squares.classList.toggle("roomy", isRoomy(plan));
  squares.classList.toggle("stacked", Boolean(plan.stacked));
  squares.classList.toggle("wrapped", Boolean(plan.wrapped));
  for (const figure of grid.figures) setSquare(figure, plan);
  for (const old of grid.heads.querySelectorAll(".axis, .label")) old.remove();
  if (grid.data.trained) setTrained(grid, plan.large);
  else {
    setLarge(grid.large, grid.data, plan.large);
    setAxes(grid.large.square, grid.data, plan.large);
    if (!grid.large.element.isConnected) grid.heads.prepend(grid.large.element);
  }
  squares.hidden = grid.data.heads === 1 && !grid.data.trained;  // the large head is the only one
}
