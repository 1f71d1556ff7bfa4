// The cells of side A as a component, which draws nothing.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import "../message.js";
import { keepSide } from "../side_cells.js";

/** @param {import("./mount.js").Call} call */
export default function ({ data }) {
  if (data) keepSide(data);
  return undefined;
}
