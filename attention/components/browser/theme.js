// Colours of maps and of the current theme, the hatching of masked cells, and the stripes of what one side masks.

import { penOf } from "./elements.js";

/** @typedef {import("./message.js").Neutrals & { background: string, dark: boolean }} Ground */

export const RAMP = 1024;
const STRIPE = 4;  // pixels from one stripe to the next
const BRIGHT = 0.179;  // luminance from which on black stands out more than white (WCAG 2.2)

/** @param {string} hex */
export function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** @param {string} hex */
export function luminance(hex) {
  const [r, g, b] = channels(hex);
  return 0.3 * r + 0.59 * g + 0.11 * b;
}

/** @type {Map<string, Uint32Array>} */
const ramps = new Map();

/**
 * Returns the RAMP colours that interpolate some stops, each as the four bytes of a pixel.
 * @param {string[]} stops
 * @returns {Uint32Array}
 */
export function ramp(stops) {
  const name = stops.join(), known = ramps.get(name);
  if (known) return known;
  const colors = stops.map(channels), last = colors.length - 1;
  const found = Uint32Array.from({ length: RAMP }, (_, i) => {
    const at = (i / (RAMP - 1)) * last, low = Math.min(last - 1, Math.floor(at));
    const [r, g, b] = colors[low].map((c, j) => Math.round(c + (colors[low + 1][j] - c) * (at - low)));
    return (255 << 24) | (b << 16) | (g << 8) | r;
  });
  ramps.set(name, found);
  return found;
}

/** @type {Map<string, Uint32Array>} */
const ranked = new Map();

/**
 * Returns the colours of `ramp` outwards from its middle: rank 2 i is that of the positive weight i of 0 to RAMP - 1, rank
 * 2 i + 1 that of the negative one. So the larger rank is that of the larger magnitude.
 * @param {string[]} stops
 * @returns {Uint32Array}
 */
export function rankedRamp(stops) {
  const name = stops.join(), known = ranked.get(name);
  if (known) return known;
  const all = ramp(stops), half = (RAMP - 1) / 2;
  const found = Uint32Array.from({ length: 2 * RAMP }, (_, rank) => {
    const away = (Math.floor(rank / 2) / (RAMP - 1)) * half;
    return all[Math.round(rank % 2 ? half - away : half + away)];
  });
  ranked.set(name, found);
  return found;
}

/**
 * Returns the hatching of masked cells as a fill style.
 * @param {CanvasRenderingContext2D} pen
 * @param {{ masked: string, hatch: string }} neutrals
 */
export function hatch(pen, neutrals) {
  const tile = document.createElement("canvas"), inner = penOf(tile);
  tile.width = tile.height = 8;
  inner.fillStyle = neutrals.masked;
  inner.fillRect(0, 0, 8, 8);
  inner.strokeStyle = neutrals.hatch;
  inner.lineWidth = 2.4;
  for (const at of [-8, 0, 8]) inner.stroke(new Path2D(`M${at} 8L${at + 8} 0`));
  return pen.createPattern(tile, "repeat") ?? neutrals.masked;
}

/**
 * Whether a pixel is part of a stripe, if a pair is visible on one side alone: rising in A alone, falling in B alone.
 * @param {number} side  -1 for A alone, 1 for B alone, otherwise 0
 * @param {number} x
 * @param {number} y
 * @param {number} height
 */
export function isStripe(side, x, y, height) {
  return side !== 0 && (side < 0 ? x + y : x - y + height) % STRIPE === 0;
}

/**
 * Returns the neutral colours of the current theme and its background, and sets them and the accents as CSS variables of
 * the root. Each accent also gets a variant that is readable as text: the accent `query` is --query, and --query-words for
 * text.
 * @param {HTMLElement} root
 * @param {import("./message.js").BothNeutrals} neutrals
 * @param {Record<string, string>} accents
 * @returns {Ground}
 */
export function applyTheme(root, neutrals, accents) {
  const pen = penOf(document.createElement("canvas"));
  pen.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#ffffff";
  const background = `${pen.fillStyle}`;  // any CSS colour comes back as #rrggbb
  const dark = luminance(background) < 128, own = neutrals[dark ? "dark" : "light"];
  const readable = (/** @type {string} */ color) => (dark ? color : `color-mix(in srgb, ${color} 75%, black)`);
  const words = Object.entries(accents).map(([name, color]) => [`${name}-words`, readable(color)]);
  const all = Object.entries({ ...own, ...accents }).concat(/** @type {[string, string][]} */ (words));
  for (const [name, color] of all) root.style.setProperty(`--${name}`, color);
  return { ...own, background, dark };
}

/**
 * Returns the stops of the colours of weights, or of differences if there are `signs`; zero is the background of the page.
 * @param {Ground} ground
 * @param {{ ramps: import("./message.js").Ramps, signed?: boolean, signs?: [string, string] }} data
 */
export function stopsOn({ background, dark }, { ramps, signed, signs }) {
  if (signs) return [signs[0], background, signs[1]];
  const stops = ramps[dark ? "dark" : "light"], zero = signed ? (stops.length - 1) / 2 : 0;
  return stops.map((stop, i) => (i === zero ? background : stop));
}

/**
 * Whether black stands out more than white on a colour.
 * @param {number} color  the four bytes of a pixel
 */
export function isBright(color) {
  const parts = [color & 255, (color >> 8) & 255, (color >> 16) & 255].map((part) => part / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > BRIGHT;
}

/**
 * Shades a token by a weight, in the colours of the maps, as the CSS variables --shade and --ink.
 * @param {HTMLElement} chip
 * @param {number} weight  -1 to 1
 * @param {{ stops: string[], signed?: boolean }} data
 */
export function shadeChip(chip, weight, { stops, signed }) {
  const at = Math.max(-1, Math.min(1, weight)), color = ramp(stops)[Math.round((signed ? (at + 1) / 2 : at) * (RAMP - 1))];
  chip.style.setProperty("--shade", `rgb(${color & 255} ${(color >> 8) & 255} ${(color >> 16) & 255})`);
  chip.style.setProperty("--ink", isBright(color) ? "#000" : "#fff");
}
