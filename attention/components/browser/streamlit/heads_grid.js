// The grid of heads as a component. The pin is its state; after painting, it updates the address bar.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../cells.js";
import "../elements.js";
import "../uniform.js";
import "../heads_grid_bars.js";
import "../heads_grid_events.js";
import "../heads_grid_large.js";
import "../heads_grid_layout.js";
import "../heads_grid_picture.js";
import "../heads_grid_readout.js";
import "../heads_grid_scale.js";
import "../heads_grid_square.js";
import "../heads_grid_trained.js";
import "../heads_grid_words.js";
import "../heads_grid_pointer.js";
import "../message.js";
import "../pixels.js";
import "../difference_cells.js";
import "../latest_message.js";
import "../theme.js";
import { draw } from "../heads_grid.js";
import { drawComplete } from "../kept_bytes.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("heads_grid.css", drawComplete(draw), (call) => ({
  onLost: () => call().setTriggerValue("lost", true),
  onPercent: () => call().setTriggerValue("percent", true),
  onPin: (pin) => call().setStateValue("pin", pin),
  onPainted: ({ address }) => {
    if (address) requestAnimationFrame(() => setTimeout(() => addressOf(address)));
  },
}));

/**
 * Writes the link of the painted picture to the address bar, unless the address changed since. Streamlit also writes it,
 * but re-renders the whole page for that.
 * @param {[string, string]} address
 */
function addressOf([last, query]) {
  const sorted = (/** @type {string} */ text) => [...new URLSearchParams(text)].sort().join("&");
  const now = sorted(location.search);
  if (now !== sorted(last) || now === sorted(query)) return;
  history.pushState({}, "", location.pathname + (query && `?${query}`));
}
