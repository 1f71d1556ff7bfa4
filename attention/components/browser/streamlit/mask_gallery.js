// The gallery of masks as a component. A choice is a trigger.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../elements.js";
import "../mask_gallery_words.js";
import "../message.js";
import "../latest_message.js";
import "../theme.js";
import { draw } from "../mask_gallery.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("mask_gallery.css", draw, (call) => ({
  onChoice: (choice) => call().setTriggerValue("choice", choice),
}));
