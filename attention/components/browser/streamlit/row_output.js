// The row times the values as a component. It sends nothing to the server.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../cells.js";
import "../difference_cells.js";
import "../elements.js";
import "../matrices_cells.js";
import "../message.js";
import "../latest_message.js";
import "../pixels.js";
import "../row_output_strips.js";
import "../row_output_words.js";
import "../theme.js";
import "../uniform.js";
import { draw } from "../row_output.js";
import { mountComponent } from "./mount.js";

export default await mountComponent("row_output.css", draw, () => undefined);
