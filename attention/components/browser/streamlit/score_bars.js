// One row as bars whose scores can be dragged, as a component. It sends nothing.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../elements.js";
import "../latest_message.js";
import "../message.js";
import "../normalise.js";
import "../score_bars_layout.js";
import "../score_bars_picture.js";
import "../score_bars_words.js";
import "../theme.js";
import { draw } from "../score_bars.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("score_bars.css", draw, () => ({}));
