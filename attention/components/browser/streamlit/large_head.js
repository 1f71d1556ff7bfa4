// The large head as a component: the part that was chosen is its state.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../cells.js";
import "../elements.js";
import "../even.js";
import "../large_head_acts.js";
import "../large_head_picture.js";
import "../large_head_pointing.js";
import "../large_head_view.js";
import "../message.js";
import "../newest.js";
import "../theme.js";
import { draw } from "../large_head.js";
import { mounted } from "./mounted.js";

export default await mounted("large_head.css", draw, (call) => ({
  onFrame: (frame) => call().setStateValue("frame", frame),
}));
