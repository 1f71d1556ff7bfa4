// Finds the cells that a cell was computed from, by the rules of tests/highlight.py. A box has lists of heads, rows and
// columns.

/**
 * @typedef {import("./matrices_cells.js").Data} Data
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 * @typedef {{ heads: number[], rows: number[], columns: number[] }} Box
 * @typedef {Map<string, Box[]>} Lit  by the names of matrices
 */

/**
 * The arguments of a rule: the step and its source, the visible keys of a query, the key heads that heads share, and how many
 * pairs of channels are rotated.
 * @typedef {object} About
 * @property {Matrix} step
 * @property {Matrix} source
 * @property {(q: number) => number[]} seen
 * @property {(heads: number[]) => number[]} shared
 * @property {number} pairs
 */

const upTo = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i);

/**
 * Returns the keys that a query may use.
 * @param {Data} data
 * @param {number} row
 */
export function visibleKeys(data, row) {
  const keys = data.lengths.k;
  const { mask } = data, start = row * Math.ceil(keys / 8);
  if (!mask) return upTo(keys);
  return upTo(keys).filter((k) => mask[start + (k >> 3)] & (128 >> (k & 7)));
}

/**
 * Returns the columns of one of the two halves of these heads, in the matrix that has all halves side by side.
 * @param {Box} box
 * @param {Matrix} step
 * @param {number} half
 */
function ofHalf(box, step, half) {
  const start = (/** @type {number} */ h) => (2 * h + half) * step.columns;
  return [{ heads: [0], rows: box.rows, columns: box.heads.flatMap((h) => box.columns.map((c) => start(h) + c)) }];
}

/** @type {Record<string, (box: Box, about: About) => Box[]>} */
const RULES = {
  same: (box) => [box],
  left: (box, { source }) => [{ ...box, columns: upTo(source.columns) }],
  right: (box, { source }) => [{ ...box, rows: upTo(source.rows) }],
  keys: (box, { source, shared }) => [{ heads: shared(box.heads), rows: box.columns, columns: upTo(source.columns) }],
  split: (box, { step }) => {
    const columns = box.heads.flatMap((h) => box.columns.map((c) => h * step.columns + c));
    return [{ heads: [0], rows: box.rows, columns }];
  },
  "first half": (box, { step }) => ofHalf(box, step, 0),
  "second half": (box, { step }) => ofHalf(box, step, 1),
  joined: (box, { source }) => {
    const width = source.columns, headOf = (/** @type {number} */ c) => Math.floor(c / width);
    const own = (/** @type {number} */ h) => box.columns.filter((c) => headOf(c) === h).map((c) => c - h * width);
    return [...new Set(box.columns.map(headOf))].map((h) => ({ heads: [h], rows: box.rows, columns: own(h) }));
  },
  pairs: (box, { pairs: half }) => {
    const partner = (/** @type {number} */ c) => (c < half ? c + half : c - half);
    const all = box.columns.flatMap((c) => (c < 2 * half ? [c, partner(c)] : [c]));
    const both = [...new Set(all)].sort((a, b) => a - b);
    return box.rows.map((row) => ({ heads: box.heads, rows: [row], columns: row ? both : box.columns }));
  },
  between: (box) => box.rows.map((q) => {
    const first = Math.min(q, ...box.columns), last = Math.max(q, ...box.columns);
    return { heads: [0], rows: upTo(last - first).map((at) => first + 1 + at), columns: box.heads };
  }),
  seen: (box, { seen }) => box.rows.map((q) => {
    const visible = seen(q);
    return { heads: box.heads, rows: [q], columns: box.columns.filter((k) => visible.includes(k)) };
  }),
  shared: (box) => [{ ...box, heads: [0] }],
  softmax: (box, { seen }) => box.rows.flatMap((q) => {
    const visible = seen(q), hidden = box.columns.filter((k) => !visible.includes(k)), { heads } = box;
    const all = hidden.length < box.columns.length ? visible : [];
    return [{ heads, rows: [q], columns: hidden }, { heads, rows: [q], columns: all }];
  }),
  "seen row": (box, { seen }) => box.rows.map((q) => ({ heads: box.heads, rows: [q], columns: seen(q) })),
  "seen values": (box, { seen, shared }) =>
    box.rows.map((q) => ({ heads: shared(box.heads), rows: seen(q), columns: box.columns })),
};

/**
 * Returns the boxes of every drawn matrix that a cell was computed from, by name, in reverse order of computation.
 * @param {Data} data
 * @param {{ name: string, head: number, row: number, column: number }} cell
 * @returns {Lit}
 */
export function litBy(data, { name, head, row, column }) {
  /** @type {Map<number, number[]>} */
  const rows = new Map();
  /** @type {Lit} */
  const found = new Map([[name, [{ heads: [head], rows: [row], columns: [column] }]]]);
  const seen = (/** @type {number} */ q) => {
    const keys = rows.get(q) ?? visibleKeys(data, q);
    rows.set(q, keys);
    return keys;
  };
  const shared = (/** @type {number[]} */ heads) =>
    [...new Set(heads.map((h) => Math.floor(h / data.repeats)))].sort((a, b) => a - b);
  const pairs = data.lengths.m;
  const order = [...data.matrices].sort((a, b) => data.order.indexOf(b.name) - data.order.indexOf(a.name));
  for (const step of order) {
    for (const { name: from, rule } of step.sources) {
      const source = data.found.get(from);
      if (!source) continue;
      const boxes = (found.get(step.name) ?? []).flatMap((box) => RULES[rule](box, { step, source, seen, shared, pairs }));
      const new_ = boxes.filter((box) => box.heads.length && box.rows.length && box.columns.length);
      if (new_.length) found.set(from, outermost([...(found.get(from) ?? []), ...new_]));
    }
  }
  found.delete(name);
  return found;
}

/**
 * Returns the drawn matrices whose rows are computed from the rows of a matrix, if this is the current one and thus the
 * first of the matrices; otherwise none.
 * @param {Pick<Data, "matrices" | "step">} data
 * @param {string | null} [name]
 */
export function matricesAfter({ matrices, step }, name = step) {
  return name === step ? matrices.filter(({ sources }) => sources[0]?.name === name && sources[0].rule === "left") : [];
}

/**
 * Returns the row of a cell, and the rows of the drawn matrices that are computed from it.
 * @param {Matrix[]} matrices
 * @param {number} row
 * @returns {Lit}
 */
export function rowsOf(matrices, row) {
  return new Map(matrices.map(({ name, columns }) => [name, [{ heads: [0], rows: [row], columns: upTo(columns) }]]));
}

/**
 * Returns the boxes that no other box contains.
 * @param {Box[]} boxes
 */
function outermost(boxes) {
  const different = [...new Map(boxes.map((box) => [JSON.stringify(box), box])).values()];
  const within = (/** @type {number[]} */ part, /** @type {number[]} */ other) => {
    const all = new Set(other);
    return part.every((at) => all.has(at));
  };
  const inside = (/** @type {Box} */ a, /** @type {Box} */ b) =>
    within(a.heads, b.heads) && within(a.rows, b.rows) && within(a.columns, b.columns);
  return different.filter((box) => !different.some((other) => other !== box && inside(box, other)));
}

/**
 * Returns ascending numbers as [from, to) runs.
 * @param {number[]} numbers
 * @returns {import("./matrices_cells.js").Range[]}
 */
export function runs(numbers) {
  /** @type {import("./matrices_cells.js").Range[]} */
  const found = [];
  for (const at of numbers) {
    const last = found.at(-1);
    if (last?.[1] === at) last[1]++;
    else found.push([at, at + 1]);
  }
  return found;
}
