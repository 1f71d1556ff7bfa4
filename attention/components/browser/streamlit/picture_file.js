// Buttons that save a picture which the server has written, as an SVG or as a PNG rendered from it.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import { newest } from "../latest_message.js";
import { find, createRoot, target } from "../elements.js";
import { saveSvg } from "../picture_file.js";
import { appendStyles } from "./mount.js";

/** @typedef {{ svg: string, name: string, what: string }} Wanted */

const MARKUP = `
<span></span><button type="button" data-file="svg">SVG</button><button type="button" data-file="png">PNG</button>`;

await appendStyles("picture_file.css");

/** @type {WeakMap<Element, { wanted: Wanted, root: HTMLElement }>} */
const drawn = new WeakMap();

/** @param {import("./mount.js").Call} call */
export default function ({ parentElement, data }) {
  if (!data) return undefined;
  return newest(parentElement, data, (/** @type {Wanted} */ wanted) => {
    const here = drawn.get(parentElement) ?? createButton(parentElement, wanted);
    here.wanted = wanted;
    find(here.root, "span").textContent = `${wanted.what} as`;
  });
}

/**
 * @param {HTMLElement} parent
 * @param {Wanted} wanted
 */
function createButton(parent, wanted) {
  const here = { wanted, root: createRoot(parent, "picture-file", MARKUP) };
  drawn.set(parent, here);
  here.root.onclick = (event) => {
    const kind = target(event, "button")?.dataset.file;
    if (kind) saveSvg(here.wanted.svg, here.wanted.name, kind);
  };
  return here;
}
