// The diagram of the pass above its matrices: its parts in the order of computation, as buttons, with the current one
// marked.

import { find, createElement, target } from "./elements.js";
import { NO_VALUES } from "./matrices_words.js";
import { turnBy, turnTo } from "./matrices_transport.js";

/**
 * @typedef {import("./matrices_layout.js").Lab} Lab
 * @typedef {import("./matrices_cells.js").Data} Data
 */

const BESIDE = ["q", "k", "v"];  // parts that are placed below each other
const LATE = "values";  // the part in which the values are used
const GIVEN = "mask";  // a part that is not computed from the one before
/** @type {Record<string, number>} */
const MOVES = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
/** @type {Record<string, number>} */
const TURNS = { PageUp: -1, PageDown: 1 };

/**
 * Handles events of the diagram: arrow keys move from part to part, Enter and clicks select one.
 * @param {Lab} lab
 */
export function followDiagram(lab) {
  const pass = find(lab.root, ".pass");
  pass.addEventListener("click", (event) => {
    const part = target(event, "button"), step = part?.dataset.leads;
    if (step) turnTo(lab, step);
  });
  pass.addEventListener("keydown", (event) => {
    const { key } = event, nodes = [...pass.querySelectorAll("button")];
    if (event.ctrlKey || event.metaKey || event.altKey || !(key in MOVES || key in TURNS)) return;
    event.preventDefault();
    event.stopPropagation();  // the page has keys of its own
    if (key in TURNS) return turnBy(lab, TURNS[key]);
    const at = nodes.findIndex((node) => node === document.activeElement) + MOVES[key];
    const next = nodes[Math.max(0, Math.min(nodes.length - 1, at))];
    for (const node of nodes) node.tabIndex = node === next ? 0 : -1;
    next.focus();
  });
}

/**
 * Draws the parts that these settings have, and marks the current part and those before it.
 * @param {Lab} lab
 */
export function drawDiagram({ root, data }) {
  const pass = find(root, ".pass"), { parts, order, step } = data, now = step === null ? -1 : order.indexOf(step);
  const key = JSON.stringify(parts);
  if (pass.dataset.parts !== key) {
    pass.dataset.parts = key;
    pass.replaceChildren(...drawNodes(data));
    pass.classList.toggle("masks", parts.some(({ place }) => place === GIVEN));
  }
  pass.style.gridTemplateColumns = `${columns(parts)}${data.ends ? " 24px auto" : ""}`;
  const nodes = [...pass.querySelectorAll("button")], focused = nodes.some((node) => node === document.activeElement);
  const current = parts.findIndex(({ steps }) => step !== null && steps.includes(step));
  for (const label of pass.querySelectorAll(".group")) {
    label.classList.toggle("current", label.textContent === parts[current]?.group);
  }
  nodes.forEach((node, i) => {
    const { steps } = parts[i];
    node.classList.toggle("done", i !== current && order.indexOf(steps[steps.length - 1]) < now);
    node.ariaCurrent = i === current ? "step" : null;
    if (!focused) node.tabIndex = i === Math.max(0, current) ? 0 : -1;
  });
}

/**
 * Returns the grid columns: nodes as wide as their names, and arrows between them that share the remaining width.
 * @param {Data["parts"]} parts
 */
function columns(parts) {
  const count = parts.filter(({ place }) => !BESIDE.includes(place) || place === BESIDE[0]).length;
  return `auto repeat(${count - 1}, minmax(12px, 1fr) auto)`;
}

/**
 * Returns one node per part, each with an arrow in the column before it, and a label above the first part of each group that
 * extends over all of them; if the source has no values, a last one says so. The values have an arrow of their own below the
 * weights, which are computed before they are used; the arrow before the mask goes below it, to the logits.
 * @param {Data} data
 */
function drawNodes({ parts, ends }) {
  let column = -1, values = 0, late = 0;
  /** @type {HTMLElement | undefined} */
  let label;
  const nodes = parts.flatMap(({ place, name, title, leads, group }) => {
    if (!BESIDE.includes(place) || place === BESIDE[0]) column += 2;
    const first = group !== label?.textContent;
    if (first) label = placeElement(createElement("span", "group", group), column);
    if (label) label.style.gridColumnEnd = `${column + 1}`;
    if (place === BESIDE[2]) values = column;
    if (place === LATE) late = column;
    const node = placeElement(createElement("button", `at-${place}`, name), column);
    Object.assign(node, { type: "button", title, ariaLabel: `${name}: ${title}` });
    Object.assign(node.dataset, { place, leads });
    const arrow = column > 1 ? [placeElement(createElement("i", `arrow at-${place}`), column - 1)] : [];
    if (place === GIVEN) arrow[0].style.gridColumnEnd = `${column + 2}`;
    return [...arrow, ...(first && label ? [createElement("i", "line-end"), label] : []), node];
  });
  if (ends) nodes.push(placeElement(createElement("span", "absent", NO_VALUES), column + 2));
  if (!late) return nodes;
  const way = placeElement(createElement("i", "arrow way"), values + 1);
  way.style.gridColumnEnd = `${late}`;
  return [...nodes, way];
}

/**
 * @template {HTMLElement} T
 * @param {T} element
 * @param {number} column
 */
function placeElement(element, column) {
  element.style.gridColumnStart = `${column}`;
  return element;
}
