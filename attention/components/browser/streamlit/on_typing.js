// Waits for text that was typed into a field without Enter. It is sent when the field loses the focus, about ten
// milliseconds after the click that causes this; a click that would overtake it waits until the link contains the text.

import { target } from "../elements.js";

// In milliseconds; PATIENCE is below five seconds, for which a browser treats a click as the user's permission to copy.
const LOOK = 30, START = 2000, PATIENCE = 4000;
const REST = 240;  // time after the end of a run in which the run of the typed text may still start
const TYPED = '[data-testid="InputInstructions"]';  // Streamlit's "Press Enter to apply"
const MENU = '[data-testid="stTopNavLink"], [data-testid="stSidebarNavLink"]';

export function typing() {
  return !!document.querySelector(TYPED)?.textContent;
}

/**
 * @param {boolean} typed
 * @param {() => string} link  returns a text that changes once the typed text was processed
 * @returns {Promise<boolean>} whether the typed text seems to be processed: a busy server may take longer
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

// A click on the menu of pages also waits: Streamlit sends it immediately, and drops later messages from the old page.
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
