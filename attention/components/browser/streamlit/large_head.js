// The large head as a component: the part that was chosen is its state.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../cells.js";
import "../elements.js";
import "../uniform.js";
import "../large_head_events.js";
import "../large_head_picture.js";
import "../large_head_pointer.js";
import "../large_head_view.js";
import "../message.js";
import "../latest_message.js";
import "../theme.js";
import { draw } from "../large_head.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("large_head.css", draw, (call) => ({
  onFrame: (frame) => call().setStateValue("frame", frame),
}));
