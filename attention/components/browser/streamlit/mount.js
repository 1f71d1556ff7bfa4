// Adapts `draw` functions to Streamlit components: functions that are called with the same parent for every message.

import { newest } from "../latest_message.js";

/**
 * The argument with which Streamlit calls a component.
 * @typedef {object} Call
 * @property {HTMLElement} parentElement
 * @property {any} data
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/**
 * @typedef {{ update: (bytes: Uint8Array) => void }} View
 * @typedef {{ view: View | null, call: Call }} Mounted
 */

/**
 * Loads the style sheet and returns a component, which draws bytes in an element. `ways` gets a function that returns the
 * latest call.
 * @template W
 * @param {string} style  the file name of the style sheet, in the folder above
 * @param {(element: Element, bytes: Uint8Array, ways: W) => View} draw
 * @param {(call: () => Call) => W} ways
 */
export async function mountComponent(style, draw, ways) {
  /** @type {WeakMap<Element, Mounted>} */
  const all = new WeakMap();
  await appendStyles(style);
  return (/** @type {Call} */ call) => {
    const { parentElement, data } = call;
    if (!data) return undefined;
    const here = all.get(parentElement) ?? { view: null, call };
    all.set(parentElement, here);
    here.call = call;
    return newest(parentElement, data, (bytes) => {
      if (here.view) here.view.update(bytes);
      else here.view = draw(parentElement, bytes, ways(() => here.call));
    });
  };
}

/**
 * Adds a style sheet after all others of the page, so that its rules win over theirs of the same specificity. It is
 * applied before anything is measured, and stays when the component is removed.
 * @param {string} style
 */
export async function appendStyles(style) {
  const answer = await fetch(new URL(`../${style}`, import.meta.url)), sheet = new CSSStyleSheet();
  if (!answer.ok) throw new Error(`${answer.url} is not served: ${answer.status}.`);
  await sheet.replace(await answer.text());
  document.adoptedStyleSheets.push(sheet);
}
