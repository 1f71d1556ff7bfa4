// The words with lines as a component. The pinned query is its state.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../cells.js";
import "../difference_cells.js";
import "../pixels.js";
import "../elements.js";
import "../message.js";
import "../latest_message.js";
import "../picture_file.js";
import "../theme.js";
import "../uniform.js";
import "../word_lines_events.js";
import "../word_lines_file.js";
import "../word_lines_picture.js";
import "../word_lines_readout.js";
import "../word_lines_view.js";
import "../word_lines_words.js";
import { draw } from "../word_lines.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("word_lines.css", draw, (call) => ({
  onPin: (pin) => call().setStateValue("pin", pin),
}));
