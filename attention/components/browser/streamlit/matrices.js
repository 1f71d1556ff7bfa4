// The matrices as a component: a turn to another step sets it off, and so does a pin.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../elements.js";
import "../matrices_acts.js";
import "../matrices_cells.js";
import "../matrices_layout.js";
import "../matrices_lit.js";
import "../matrices_pass.js";
import "../matrices_said.js";
import "../matrices_shown.js";
import "../matrices_sides.js";
import "../matrices_turns.js";
import "../matrices_words.js";
import "../message.js";
import "../newest.js";
import "../theme.js";
import { draw } from "../matrices.js";
import { mounted } from "./mounted.js";

export default await mounted("matrices.css", draw, (call) => ({
  onTurn: (to) => call().setTriggerValue("turn", to),
  onPin: (to) => call().setTriggerValue("pin", to),
}));
