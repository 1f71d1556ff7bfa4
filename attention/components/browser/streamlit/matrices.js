// The matrices as a component. A turn to another step and a pin are triggers.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../elements.js";
import "../matrices_events.js";
import "../matrices_cells.js";
import "../matrices_layout.js";
import "../matrices_highlight.js";
import "../matrices_pass.js";
import "../matrices_readout.js";
import "../matrices_picture.js";
import "../matrices_axes.js";
import "../matrices_transport.js";
import "../matrices_tokens.js";
import "../matrices_words.js";
import "../message.js";
import "../latest_message.js";
import "../theme.js";
import { draw } from "../matrices.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("matrices.css", draw, (call) => ({
  onTurn: (to) => call().setTriggerValue("turn", to),
  onPin: (to) => call().setTriggerValue("pin", to),
}));
