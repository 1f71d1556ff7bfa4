// The picture as a notebook widget, which sends pins to Python.

import { draw } from "../heads_layers.js";
import { unzip } from "./unzip.js";

/**
 * The state of the widget, as anywidget provides it.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: unknown) => void} set
 * @property {() => void} save_changes
 */

/** @param {{ model: Model, el: HTMLElement }} widget */
function render({ model, el }) {
  const about = model.get("about"), places = /** @type {number[]} */ (model.get("places"));
  const layer = (/** @type {number} */ part, /** @type {number} */ at) => {
    const view = /** @type {DataView<ArrayBuffer>} */ (model.get("layers")[places[part] + at]);
    return unzip(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  };
  const drawing = draw(el, { about, layer }, {
    onPin: ({ count, ...pin }) => {
      model.set("pinned", pin);
      model.save_changes();
    },
  });
  // While JupyterLab changes its theme, elements of its page have no size, so the picture is painted a frame later.
  const observer = new MutationObserver(() => requestAnimationFrame(() => drawing.recolour()));
  observer.observe(document.body, { attributeFilter: ["data-jp-theme-light", "class"] });
  return () => {
    observer.disconnect();
    drawing.destroy();
  };
}

export default { render };
