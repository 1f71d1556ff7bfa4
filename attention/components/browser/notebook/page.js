// The picture of a self-contained page: all of its data are in elements of the page, which attention/notebook/page.py
// writes.

import { find } from "../elements.js";
import { draw } from "../heads_layers.js";
import { unzip } from "./unzip.js";

/**
 * Returns the bytes that an element contains as base64.
 * @param {string} id
 */
function bytesOf(id) {
  const text = document.getElementById(id)?.textContent ?? "";
  return Uint8Array.from(atob(text.trim()), (sign) => sign.charCodeAt(0));
}

const about = JSON.parse(new TextDecoder().decode(bytesOf("about")));
const layer = (/** @type {number} */ part, /** @type {number} */ at) => unzip(bytesOf(`layer-${part}-${at}`));
const drawing = draw(find(document, "main"), { about: { ...about, title: "" }, layer });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawing.recolour());
