// The large head as a component: the part that was chosen is its state.

import { draw } from "../large_head.js";
import { mounted } from "./mounted.js";

export default await mounted("large_head.css", draw, (call) => ({
  onFrame: (frame) => call().setStateValue("frame", frame),
}));
