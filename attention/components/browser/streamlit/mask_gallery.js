// The gallery of masks as a component: a choice sets it off.

import { draw } from "../mask_gallery.js";
import { mounted } from "./mounted.js";

export default await mounted("mask_gallery.css", draw, (call) => ({
  onChoice: (choice) => call().setTriggerValue("choice", choice),
}));
