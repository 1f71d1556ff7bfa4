// What was typed into a field without Enter sets off when the field is left, some ten milliseconds after the click that
// leaves it: a click that would overtake it waits until it has come into the link.

import { target } from "../elements.js";

// In milliseconds; after five seconds a browser has forgotten the click.
const LOOK = 30, START = 2000, PATIENCE = 4000;
const REST = 240;  // in which what was typed sets off, though the run before it has just ended
const TYPED = '[data-testid="InputInstructions"]';  // Streamlit's "Press Enter to apply"
const MENU = '[data-testid="stTopNavLink"], [data-testid="stSidebarNavLink"]';

export function typing() {
  return !!document.querySelector(TYPED)?.textContent;
}

/**
 * @param {boolean} typed
 * @param {() => string} link  what changes once it has come in
 * @returns {Promise<boolean>} whether all has come in, as far as can be told: a busy server may take longer
 */
export async function onSettled(typed, link = () => location.href) {
  const before = link(), start = Date.now();
  const app = /** @type {HTMLElement | null} */ (document.querySelector(".stApp"));
  const runs = () => app?.dataset.testScriptState === "running";
  let came = !typed, moved = start;
  for (let since = 0; since < PATIENCE; since = Date.now() - start) {
    if (runs() || link() !== before) came = true;
    if (runs()) moved = Date.now();
    if (came ? !runs() && (!typed || Date.now() - moved > REST) : since > START) break;
    await new Promise((then) => setTimeout(then, LOOK));
  }
  return came && !runs();
}

// The menu of pages: Streamlit sends its click at once, and drops what comes from the page that was left.
if (!("menuWaits" in document.documentElement.dataset)) {
  document.documentElement.dataset.menuWaits = "";
  let typed = false;
  addEventListener("pointerdown", () => { typed = typing(); }, true);
  addEventListener("click", async (event) => {
    const link = target(event, MENU);
    if (!typed || !link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    typed = false;
    event.preventDefault();
    event.stopImmediatePropagation();
    await onSettled(true);
    link.click();
  }, true);
}
