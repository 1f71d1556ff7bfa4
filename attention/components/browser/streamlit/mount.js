// A drawing as Streamlit wants its components: a function that is called for every message, with the same parent.

import { newest } from "../latest_message.js";

/**
 * What Streamlit calls a component with.
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
 * What draws bytes in an element, `ways` being told how the latest call is reached, once its style sheet is there.
 * @template W
 * @param {string} style  beside the drawings
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
 * Puts a style sheet after all others of the page, as theirs of the same strength are meant for it alone. It is there
 * before anything is measured, and stays when the component goes.
 * @param {string} style
 */
export async function appendStyles(style) {
  const answer = await fetch(new URL(`../${style}`, import.meta.url)), sheet = new CSSStyleSheet();
  if (!answer.ok) throw new Error(`${answer.url} is not served: ${answer.status}.`);
  await sheet.replace(await answer.text());
  document.adoptedStyleSheets.push(sheet);
}
