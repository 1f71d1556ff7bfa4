// What is said about a cell: where it stands, its value, its arithmetic, and how much it was computed from.

const TERMS = 4;

// Three significant digits; what is too small for that is said to be.
function figure(matrix, cell) {
  const { value, code } = cell;
  if (matrix.scale === "mask") return value ? "1, takes part" : "0, hidden";
  if (value === -Infinity) return matrix.scale === "weights" ? "0, hidden" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value), text = size >= 0.001 && size < 1e5 ? Number(value.toPrecision(3)).toString() : value.toExponential(2);
  return ((code & 0x7fff) < 0x400 ? "about " : "") + text.replace("-", "−").replace("e+", "e");
}

const NAMES = { q: "query", k: "key", c: "channel", d: "channel", e: "channel" };

// Row and column in words: `query 4 boat`, `channel 7`; columns of heads side by side name their head.
function placed(data, matrix, axis, at) {
  const letter = axis.replace(/[()]/g, "");
  if (letter.includes(" ")) {
    const width = data.lengths[letter[2]];
    return `column ${at} (head ${Math.floor(at / width)}, channel ${at % width})`;
  }
  const token = data.tokens[letter]?.[at];
  return `${NAMES[letter]} ${at}${token === undefined ? "" : ` “${token}”`}`;
}

function axesOf(matrix) {
  return matrix.axes.match(/\(.*?\)|\w/g);
}

function located(data, matrix, cell) {
  const axes = axesOf(matrix), [rows, columns] = axes.slice(-2), shared = axes.includes("g") && data.repeats > 1;
  const head = matrix.heads > 1 || axes.includes("h") || axes.includes("g") ? `${shared ? "kv " : ""}head ${cell.head}, ` : "";
  return `${head}${placed(data, matrix, rows, cell.row)}, ${placed(data, matrix, columns, cell.column)}`;
}

function index(matrix, { head, row, column }) {
  return axesOf(matrix).some((axis) => axis === "h" || axis === "g") ? `${head}, ${row}, ${column}` : `${row}, ${column}`;
}

// The template of a step with the numbers of a cell; "" where a number that it needs is not drawn.
function arithmetic(data, matrix, cell, boxes) {
  if (!matrix.sources.length) return "";
  const drawn = matrix.sources.map(({ name }) => data.found.get(name));
  if (matrix.name === "logits") return logit(data, matrix, cell, drawn[0]);
  if (matrix.name === "weights" && cell.value === -Infinity) return `weight[${index(matrix, cell)}] = exp(−∞) / … = 0: hidden by the mask`;
  const given = { name: matrix.name, at: index(matrix, cell), h: cell.head, g: Math.floor(cell.head / data.repeats), i: cell.row, j: cell.column, value: figure(matrix, cell) };
  drawn.forEach((source, i) => {
    const [box] = boxes.get(matrix.sources[i].name) ?? [];
    const single = box && [box.heads, box.rows, box.columns].every((list) => list.length === 1);
    const place = single ? { head: box.heads[0], row: box.rows[0], column: box.columns[0] } : cell;
    if (source && single) given[`at${i}`] = index(source, place);
    const there = source && place.row < source.rows && place.column < source.columns && exact(source, place.head, place.row, place.column);
    if (there) given[`v${i}`] = figure(source, there);
  });
  const text = matrix.says.replace(/{(\w+)}/g, (_, key) => given[key] ?? "…");
  return text + terms(data, matrix, cell, boxes, drawn);
}

function logit(data, matrix, cell, source) {
  const hidden = cell.value === -Infinity, before = source && exact(source, cell.head, cell.row, cell.column);
  const score = before ? ` (${source.name}: ${figure(source, before)})` : "";
  return `logit[${index(matrix, cell)}] = ${hidden ? `−∞: hidden by the mask, whatever the score${score}` : `${figure(matrix, cell)}: the mask lets the score through`}`;
}

// A sum of few products, written out.
function terms(data, matrix, cell, boxes, drawn) {
  if (matrix.sources.length !== 2 || !/left|seen row/.test(matrix.sources[0].rule) || !drawn[0] || !drawn[1]) return "";
  const [first, second] = matrix.sources.map(({ name }) => boxes.get(name)?.[0]);
  if (!first || !second || first.columns.length > TERMS) return "";
  const found = first.columns.map((c, n) => {
    const there = matrix.sources[1].rule === "keys" ? [second.rows[0], c] : [second.rows[n], second.columns[0]];
    return [exact(drawn[0], first.heads[0], first.rows[0], c), exact(drawn[1], second.heads[0], ...there)];
  });
  if (found.some(([a, b]) => !a || !b)) return "";
  return ` = ${found.map(([a, b]) => `${figure(drawn[0], a)} · ${figure(drawn[1], b)}`).join(" + ")}`.replace(/\+ −/g, "− ");
}

// How many cells of which matrices, in the order of computing.
function origins(data, matrix, cell, boxes) {
  if (!matrix.sources.length) return matrix.name.startsWith("W") ? "A parameter: drawn, not computed." : "Given, not computed.";
  const parts = data.matrices.filter(({ name }) => boxes.has(name)).map(({ name }) => {
    const count = boxes.get(name).reduce((sum, box) => sum + box.heads.length * box.rows.length * box.columns.length, 0);
    return `${count.toLocaleString("en")} ${count > 1 ? "cells" : "cell"} of ${name}`;
  });
  if (!parts.length && matrix.sources.some(({ name }) => data.found.has(name))) return "Computed from nothing: this query sees no key.";
  return parts.length ? `Computed from ${parts.join(", ")}.` : "What it is computed from is not drawn here.";
}
