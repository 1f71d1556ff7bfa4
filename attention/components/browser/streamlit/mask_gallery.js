// The gallery of masks as a component: a choice sets it off.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../elements.js";
import "../message.js";
import "../latest_message.js";
import "../theme.js";
import { draw } from "../mask_gallery.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("mask_gallery.css", draw, (call) => ({
  onChoice: (choice) => call().setTriggerValue("choice", choice),
}));
