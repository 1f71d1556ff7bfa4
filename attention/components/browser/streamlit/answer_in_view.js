// Scrolls the verdict on an answer into view once the answer changes, and the start of the page once the question does.

import { scrollToNearest } from "../elements.js";

/** @typedef {{ question: string, answer: string, verdict: string, start: string }} Shown  the last two are classes */

/** @type {WeakMap<Element, Shown>} */
const shown = new WeakMap();

/** @param {import("./mount.js").Call} call */
export default function ({ parentElement, data }) {
  if (!data) return;
  const before = shown.get(parentElement), isOther = before?.question !== data.question;
  shown.set(parentElement, data);
  if (!before || (!isOther && (!data.answer || before.answer === data.answer))) return;
  const element = document.querySelector(`.${isOther ? data.start : data.verdict}`);
  requestAnimationFrame(() => element instanceof HTMLElement && scrollToNearest(element));
}
