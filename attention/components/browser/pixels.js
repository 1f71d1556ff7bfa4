// Which cells are under which pixels.

/**
 * Returns the first cell under each pixel, and one past the last. If there are fewer pixels than cells, every cell is
 * under exactly one pixel; otherwise a pixel shows the cell under its middle.
 * @param {number} cells
 * @param {number} pixels
 */
export function cellRanges(cells, pixels) {
  const from = new Uint32Array(pixels), to = new Uint32Array(pixels), middle = pixels < cells ? 0 : 0.5;
  for (let i = 0; i < pixels; i++) {
    from[i] = Math.floor(((i + middle) * cells) / pixels);
    to[i] = middle ? from[i] + 1 : Math.floor(((i + 1) * cells) / pixels);
  }
  return { from, to };
}
