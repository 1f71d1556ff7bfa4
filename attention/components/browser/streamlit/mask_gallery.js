// The gallery of masks as a component: a choice sets it off.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../elements.js";
import "../message.js";
import "../newest.js";
import "../theme.js";
import { draw } from "../mask_gallery.js";
import { mounted } from "./mounted.js";

export default await mounted("mask_gallery.css", draw, (call) => ({
  onChoice: (choice) => call().setTriggerValue("choice", choice),
}));
