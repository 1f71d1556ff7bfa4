// The words with lines as a component: the query that was pinned is its state.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../cells.js";
import "../elements.js";
import "../message.js";
import "../newest.js";
import "../picture_file.js";
import "../theme.js";
import "../word_lines_acts.js";
import "../word_lines_file.js";
import "../word_lines_picture.js";
import "../word_lines_said.js";
import "../word_lines_view.js";
import { draw } from "../word_lines.js";
import { mounted } from "./mounted.js";

export default await mounted("word_lines.css", draw, (call) => ({
  onPin: (pin) => call().setStateValue("pin", pin),
}));
