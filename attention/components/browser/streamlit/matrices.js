// The matrices as a component: a turn to another step sets it off, and so does a pin.

import { draw } from "../matrices.js";
import { mounted } from "./mounted.js";

export default await mounted("matrices.css", draw, (call) => ({
  onTurn: (to) => call().setTriggerValue("turn", to),
  onPin: (to) => call().setTriggerValue("pin", to),
}));
