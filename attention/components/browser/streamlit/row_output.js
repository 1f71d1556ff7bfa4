// The row times the values as a component: nobody hears of what is pointed at.

// First all that these need: a browser that finds it one by one in what it loads takes longer.
import "../elements.js";
import "../matrices_cells.js";
import "../message.js";
import "../newest.js";
import "../row_output_strips.js";
import "../theme.js";
import { draw } from "../row_output.js";
import { mounted } from "./mounted.js";

export default await mounted("row_output.css", draw, () => undefined);
