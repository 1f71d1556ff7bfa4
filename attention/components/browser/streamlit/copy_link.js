// Copies the address; where the browser refuses, shows it selected, to be copied by hand. The address follows what is
// asked for: a click waits for what runs, and for what was typed without Enter and sets off now.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../newest.js";
import "./carried.js";
import { find, planted } from "../elements.js";
import { styled } from "./mounted.js";
import { settled, typing } from "./typed.js";

const SAID = 2500;  // milliseconds
const MARKUP = `
<button type="button">Copy link</button><span aria-live="polite"></span>
<input type="text" readonly hidden aria-label="Link to what is on the screen">`;

await styled("copy_link.css");

/** @type {WeakSet<Element>} */
const drawn = new WeakSet();

/** @param {import("./mounted.js").Call} call */
export default function ({ parentElement }) {
  if (drawn.has(parentElement)) return;
  drawn.add(parentElement);
  const root = planted(parentElement, "copy-link", MARKUP), said = find(root, "span");
  const button = find(root, "button"), field = find(root, "input", HTMLInputElement);
  let typed = false, timer = 0;
  button.onpointerdown = () => { typed = typing(); };
  button.onclick = async () => {
    await settled(typed);
    typed = false;
    const copied = (await offered(location.href)) || selected(field, location.href);
    field.hidden = copied;
    if (!copied) field.select();
    said.textContent = copied ? "Copied" : "Select and copy it from here";
    clearTimeout(timer);
    timer = setTimeout(() => copied && (said.textContent = ""), SAID);
  };
}

/** @param {string} text */
async function offered(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;  // no clipboard without https, in some frames, or against the visitor's will
  }
}

/**
 * @param {HTMLInputElement} field
 * @param {string} text
 */
function selected(field, text) {
  field.hidden = false;
  field.value = text;
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  }
}
