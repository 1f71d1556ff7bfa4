// “Measure my GPU” as a component: sends the message of a measurement to the server.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import { newest } from "../latest_message.js";
import "../elements.js";
import "../gpu_timing_words.js";
import "../webgpu/adapter.js";
import "../webgpu/cpu.js";
import "../webgpu/device.js";
import "../webgpu/input.js";
import "../webgpu/kernels.js";
import "../webgpu/measure.js";
import "../webgpu/plan.js";
import "../webgpu/proof.js";
import "../webgpu/template.js";
import "../webgpu/times.js";
import { draw } from "../gpu_timing.js";
import { appendStyles } from "./mount.js";

await appendStyles("gpu_timing.css");

/** @type {WeakMap<Element, { view: ReturnType<typeof draw>, call: import("./mount.js").Call }>} */
const drawn = new WeakMap();

/** @param {import("./mount.js").Call} call */
export default function (call) {
  const { parentElement, data } = call;
  if (!data) return undefined;
  const known = drawn.get(parentElement);
  if (known) known.call = call;
  return newest(parentElement, data, (/** @type {import("../gpu_timing.js").Wanted} */ wanted) => {
    const here = drawn.get(parentElement);
    if (here) return here.view.update(wanted);
    const measured = (/** @type {object} */ message) => drawn.get(parentElement)?.call.setTriggerValue("measured", message);
    drawn.set(parentElement, { view: draw(parentElement, wanted, { measured }), call });
    return undefined;
  });
}
