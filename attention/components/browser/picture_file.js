// Saves pictures as files: an SVG, written here or by the server, or a PNG rendered from it. Texts remain text in the SVG.

import { penOf, saveAs, saveBlob, signs } from "./elements.js";

const SPACE = "http://www.w3.org/2000/svg", FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif";
const DENSE = 2, LARGEST = 8192;  // pixels of a PNG per pixel of the SVG, and maximum pixels per side
const LINE = 1.4;  // line height relative to the font size

/** @typedef {Record<string, string | number>} Attributes */

/**
 * Creates an SVG with a white background and returns its root.
 * @param {number} width
 * @param {number} height
 */
export function sheet(width, height) {
  const page = document.implementation.createDocument(SPACE, "svg", null), root = page.documentElement;
  const size = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT };
  for (const [name, value] of Object.entries(size)) root.setAttribute(name, `${value}`);
  put(root, "rect", { width, height, fill: "#ffffff" });
  return root;
}

/**
 * Appends an element to another and returns it; `text` is added as text, not as markup.
 * @param {Element} parent
 * @param {string} name
 * @param {Attributes} attributes
 * @param {string} [text]
 */
export function put(parent, name, attributes, text) {
  const made = parent.ownerDocument.createElementNS(SPACE, name);
  for (const [each, value] of Object.entries(attributes)) made.setAttribute(each, `${value}`);
  if (text !== undefined) made.textContent = legal(text);
  parent.append(made);
  return made;
}

/**
 * Replaces characters that XML does not allow by U+FFFD.
 * @param {string} text
 */
export function legal(text) {
  return text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}

/**
 * Breaks a text into lines of at most `width` pixels; words that are longer than a line are broken as well.
 * @param {string} text
 * @param {number} size  the font size
 * @param {number} width
 */
export function wrapText(text, size, width) {
  const lines = [""], fits = fitting(size, width);
  for (const word of text.split(/\s+/)) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (fits(longer)) lines[lines.length - 1] = longer;
    else for (const sign of [" ", ...signs(word)]) more(lines, sign, fits);
  }
  return lines.filter((line) => line.trim()).map((line) => line.trim());
}

/**
 * Appends a character to the last line, or to a new line if it does not fit; a space begins a new line.
 * @param {string[]} lines
 * @param {string} sign
 * @param {(line: string) => boolean} fits
 */
function more(lines, sign, fits) {
  const longer = lines[lines.length - 1] + sign;
  if (sign !== " " && (fits(longer) || longer === sign)) lines[lines.length - 1] = longer;
  else lines.push(sign.trim());
}

/**
 * Returns a text cut to a width, with “…” for the rest.
 * @param {string} text
 * @param {number} size
 * @param {number} width
 */
export function cut(text, size, width) {
  const fits = fitting(size, width), all = signs(text);
  if (fits(text)) return text;
  while (all.length && !fits(`${all.join("")}…`)) all.pop();
  return `${all.join("")}…`;
}

/**
 * Returns a predicate: whether a line is at most `width` pixels wide.
 * @param {number} size
 * @param {number} width
 * @returns {(line: string) => boolean}
 */
function fitting(size, width) {
  const pen = penOf(document.createElement("canvas"));
  pen.font = `${size}px ${FONT}`;
  return (line) => pen.measureText(line).width <= width;
}

/**
 * Appends lines of text below each other, and returns the y of their lower edge.
 * @param {Element} parent
 * @param {string[]} lines
 * @param {number} x
 * @param {number} y  that of the upper edge
 * @param {number} size
 * @param {Attributes} more
 */
export function paragraph(parent, lines, x, y, size, more) {
  lines.forEach((line, at) => {
    put(parent, "text", { x, y: y + size + at * LINE * size, "font-size": size, ...more }, line);
  });
  return y + lines.length * LINE * size;
}

/** @param {Element} root */
export function toSvg(root) {
  return new XMLSerializer().serializeToString(root);
}

/**
 * @param {string} svg
 * @param {string} name  the file name without extension
 * @param {string} kind  "svg" or "png"
 */
export function saveSvg(svg, name, kind) {
  if (kind === "png") return void paintSvg(svg).then((canvas) => saveAs(canvas, `${name}.png`));
  return saveBlob(new Blob([svg], { type: "image/svg+xml" }), `${name}.svg`);
}

/** @param {string} svg */
async function paintSvg(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })), image = new Image();
  image.src = address;
  await image.decode();
  const { width, height } = image, canvas = document.createElement("canvas");
  const dense = Math.min(DENSE, LARGEST / Math.max(width, height));
  Object.assign(canvas, { width: Math.round(width * dense), height: Math.round(height * dense) });
  penOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  return canvas;
}
