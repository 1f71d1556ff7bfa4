// One head over a sentence as a component. The chosen query is its state.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../cells.js";
import "../percent.js";
import "../difference_cells.js";
import "../pixels.js";
import "../elements.js";
import "../message.js";
import "../latest_message.js";
import "../theme.js";
import "../sentence_head_map.js";
import "../sentence_head_words.js";
import { draw } from "../sentence_head.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("sentence_head.css", draw, (call) => ({
  onPin: (pin) => call().setStateValue("pin", pin),
}));
