// The enlarged head as a component. The selected part and row are its state.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../cells.js";
import "../percent.js";
import "../difference_cells.js";
import "../pixels.js";
import "../elements.js";
import "../uniform.js";
import "../large_head_events.js";
import "../large_head_marks.js";
import "../large_head_picture.js";
import "../large_head_pointer.js";
import "../large_head_view.js";
import "../large_head_words.js";
import "../message.js";
import "../latest_message.js";
import "../theme.js";
import { draw } from "../large_head.js";
import { drawComplete } from "../kept_bytes.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("large_head.css", drawComplete(draw), (call) => ({
  onLost: () => call().setTriggerValue("lost", true),
  onFrame: (frame) => call().setStateValue("frame", frame),
  onPin: (pin) => call().setStateValue("pin", pin),
}));
