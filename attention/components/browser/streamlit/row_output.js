// The row times the values as a component: nobody hears of what is pointed at.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../elements.js";
import "../matrices_cells.js";
import "../message.js";
import "../latest_message.js";
import "../row_output_strips.js";
import "../theme.js";
import { draw } from "../row_output.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("row_output.css", draw, () => undefined);
