// The grid of heads as a component: what was pinned is its state, the link follows what is painted, and a film that
// waits for its first picture is told of it.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../cells.js";
import "../elements.js";
import "../uniform.js";
import "../heads_grid_events.js";
import "../heads_grid_layout.js";
import "../heads_grid_picture.js";
import "../heads_grid_readout.js";
import "../heads_grid_pointer.js";
import "../message.js";
import "../latest_message.js";
import "../theme.js";
import { draw } from "../heads_grid.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("heads_grid.css", draw, (call) => ({
  onPin: (pin) => call().setStateValue("pin", pin),
  onPainted: ({ address, waits }) => {
    if (address) requestAnimationFrame(() => setTimeout(() => addressOf(address)));
    if (waits) requestAnimationFrame(() => setTimeout(() => call().setTriggerValue("seen", true)));
  },
}));

/**
 * The link of what is now on the screen, right after the frame that shows it, unless another than the last one has
 * taken its place since. Streamlit writes it too, but has to draw the whole page anew for it.
 * @param {[string, string]} address
 */
function addressOf([last, query]) {
  const sorted = (/** @type {string} */ text) => [...new URLSearchParams(text)].sort().join("&");
  const now = sorted(location.search);
  if (now !== sorted(last) || now === sorted(query)) return;
  history.pushState({}, "", location.pathname + (query && `?${query}`));
}
