// Which cells a cell was computed from: the rules of tests/lit.py. A box is { heads, rows, columns }, lists of numbers.

const upTo = (count) => Array.from({ length: count }, (_, i) => i);

function seenBy(data, row) {
  const keys = data.lengths.k;
  if (!data.mask) return upTo(keys);
  const start = row * Math.ceil(keys / 8);
  return upTo(keys).filter((k) => data.mask[start + (k >> 3)] & (128 >> (k & 7)));
}

const RULES = {
  same: (box) => [box],
  left: (box, { source }) => [{ ...box, columns: upTo(source.columns) }],
  right: (box, { source }) => [{ ...box, rows: upTo(source.rows) }],
  keys: (box, { source, shared }) => [{ heads: shared(box.heads), rows: box.columns, columns: upTo(source.columns) }],
  split: (box, { step }) => [{ heads: [0], rows: box.rows, columns: box.heads.flatMap((h) => box.columns.map((c) => h * step.columns + c)) }],
  joined: (box, { source }) => {
    const width = source.columns, heads = [...new Set(box.columns.map((c) => Math.floor(c / width)))];
    return heads.map((h) => ({ heads: [h], rows: box.rows, columns: box.columns.filter((c) => Math.floor(c / width) === h).map((c) => c - h * width) }));
  },
  pairs: (box, { source }) => {
    const half = Math.floor(source.columns / 2), partner = (c) => (c < half ? c + half : c - half);
    const both = [...new Set(box.columns.flatMap((c) => (c < 2 * half ? [c, partner(c)] : [c])))].sort((a, b) => a - b);
    return box.rows.map((row) => ({ heads: box.heads, rows: [row], columns: row ? both : box.columns }));
  },
  seen: (box, { seen }) => box.rows.map((q) => ({ heads: box.heads, rows: [q], columns: box.columns.filter((k) => seen(q).includes(k)) })),
  shared: (box) => [{ ...box, heads: [0] }],
  softmax: (box, { seen }) => box.rows.flatMap((q) => {
    const visible = seen(q), hidden = box.columns.filter((k) => !visible.includes(k));
    return [{ heads: box.heads, rows: [q], columns: hidden }, { heads: box.heads, rows: [q], columns: hidden.length < box.columns.length ? visible : [] }];
  }),
  "seen row": (box, { seen }) => box.rows.map((q) => ({ heads: box.heads, rows: [q], columns: seen(q) })),
  "seen values": (box, { seen, shared }) => box.rows.map((q) => ({ heads: shared(box.heads), rows: seen(q), columns: box.columns })),
};

// Boxes of every drawn matrix that a cell was computed from, by name, in the order of computing backwards.
function litBy(data, { name, head, row, column }) {
  const found = new Map([[name, [{ heads: [head], rows: [row], columns: [column] }]]]), rows = new Map();
  const seen = (q) => rows.get(q) ?? rows.set(q, seenBy(data, q)).get(q);
  const shared = (heads) => [...new Set(heads.map((h) => Math.floor(h / data.repeats)))].sort((a, b) => a - b);
  const order = [...data.matrices].sort((a, b) => data.order.indexOf(b.name) - data.order.indexOf(a.name));
  for (const step of order) {
    for (const { name: from, rule } of step.sources) {
      const source = data.found.get(from);
      if (!source) continue;
      const boxes = (found.get(step.name) ?? []).flatMap((box) => RULES[rule](box, { step, source, seen, shared }));
      const new_ = boxes.filter((box) => box.heads.length && box.rows.length && box.columns.length);
      if (new_.length) found.set(from, outermost([...(found.get(from) ?? []), ...new_]));
    }
  }
  found.delete(name);
  return found;
}

// The boxes that lie in no other of them.
function outermost(boxes) {
  const different = [...new Map(boxes.map((box) => [JSON.stringify(box), box])).values()];
  const within = (part, other) => { const all = new Set(other); return part.every((at) => all.has(at)); };
  const inside = (a, b) => ["heads", "rows", "columns"].every((part) => within(a[part], b[part]));
  return different.filter((box) => !different.some((other) => other !== box && inside(box, other)));
}

// Ascending numbers as [from, to) runs.
function runs(numbers) {
  const found = [];
  for (const at of numbers) {
    if (found.length && found.at(-1)[1] === at) found.at(-1)[1]++;
    else found.push([at, at + 1]);
  }
  return found;
}
