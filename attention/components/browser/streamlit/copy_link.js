// Copies the address, with entries added or left out; if the browser refuses, shows it selected, to be copied by hand.
// The address changes after a run of the app, so a click waits for a running one, and for text that was typed without
// Enter and is sent when the field loses the focus.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import { newest } from "../latest_message.js";
import "./carry_link.js";
import "./menu_drawer.js";
import "./printed_page.js";
import { COPIED, longLink, MARKUP, OLD, SELECTED } from "../copy_link_words.js";
import { find, createRoot } from "../elements.js";
import { appendStyles } from "./mount.js";
import { onSettled, typing } from "./on_typing.js";

/**
 * The data of a button.
 * @typedef {{ label: string, adds: Record<string, string>, drops: string[], lacking: string, copies: string }} Wanted
 */

const SAID = 2500;  // milliseconds
const LONG = 2000;  // length in characters that every program accepts for a link
await appendStyles("copy_link.css");

/** @type {WeakMap<Element, { wanted: Wanted, button: HTMLElement }>} */
const drawn = new WeakMap();

/** @param {import("./mount.js").Call} call */
export default function ({ parentElement, data }) {
  if (!data) return undefined;
  return newest(parentElement, data, (/** @type {Wanted} */ wanted) => {
    const here = drawn.get(parentElement) ?? createButton(parentElement, wanted);
    here.wanted = wanted;
    if (here.button.textContent !== wanted.label) here.button.textContent = wanted.label;
  });
}

/**
 * @param {HTMLElement} parent
 * @param {Wanted} wanted
 */
function createButton(parent, wanted) {
  const root = createRoot(parent, "copy-link", MARKUP), said = find(root, "span");
  const button = find(root, "button"), field = find(root, "input", HTMLInputElement);
  const here = { wanted, button };
  drawn.set(parent, here);
  let typed = false, timer = 0;
  button.onpointerdown = () => { typed = typing(); };
  button.onclick = async () => {
    const whole = await onSettled(typed, () => address(here.wanted));
    typed = false;
    const link = address(here.wanted), nothing = here.wanted.lacking;
    const copied = !nothing && ((await offerText(link)) || selectField(field, link));
    field.hidden = copied || !!nothing;
    if (!field.hidden) field.select();
    said.textContent = nothing || (copied ? setLink(link, whole) : SELECTED);
    clearTimeout(timer);
    timer = setTimeout(() => copied && whole && link.length <= LONG && (said.textContent = ""), SAID);
  };
  return here;
}

/**
 * @param {string} link
 * @param {boolean} whole
 */
function setLink(link, whole) {
  if (!whole) return OLD;
  return link.length > LONG ? longLink(link.length) : COPIED;
}

/** @param {Wanted} wanted */
function address({ adds, drops, copies }) {
  if (copies) return copies;
  if (!drops.length && !Object.keys(adds).length) return location.href;
  const link = new URL(location.href);
  for (const name of drops) link.searchParams.delete(name);
  for (const [name, value] of Object.entries(adds)) link.searchParams.set(name, value);
  return link.href;
}

/** @param {string} text */
async function offerText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;  // there is no clipboard without https, in some frames, or without the user's permission
  }
}

/**
 * @param {HTMLInputElement} field
 * @param {string} text
 */
function selectField(field, text) {
  field.hidden = false;
  field.value = text;
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  }
}
