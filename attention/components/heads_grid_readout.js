// What is said about the cell under the pointer or the cursor: numbers, tokens, its row as bars and as a table.

const TABLE = 50;

function named(data, token, count) {
  const name = data.tokens[token];
  if (count > 1 && data.tile > 1 && !data.places) return `${token} to ${token + count - 1}`;
  return name === undefined ? `${token}` : `${token}  ${name}`;
}

function setReadout(grid, cell) {
  const { data, of } = grid, where = cell.tall * cell.broad > 1;
  const blind = seesNothing(data, cell);
  of.head.textContent = `${cell.head}`;
  of.query.textContent = named(data, cell.query, cell.tall);
  of.key.textContent = named(data, cell.key, cell.broad);
  of.weight.textContent = number(cell.code, cell.weight);
  of.note.textContent = blind ? "This query sees no key." : where && cell.code > ZERO ? noteOf(data, cell) : "";
  grid.root.style.setProperty("--head", data.head_colors[cell.head % data.head_colors.length]);
}

function noteOf(data, cell) {
  const of = `greatest of ${cell.tall} × ${cell.broad}`;
  return data.places || data.tile === 1 ? `${of}, at query ${cell.query}, key ${cell.key}` : of;
}

function seesNothing(data, { head, row }) {
  return greatest(data.codes[head].subarray(row * data.columns, (row + 1) * data.columns)) === MASKED;
}

// The cell as a sentence, for those who hear it.
function spoken(data, cell) {
  const token = (i) => (data.tokens[i] === undefined ? "" : ` ${data.tokens[i]}`);
  const weight = cell.code === MASKED ? "masked" : `weight ${number(cell.code, cell.weight)}`;
  const rest = seesNothing(data, cell) ? ", sees no key" : "";
  return `Head ${cell.head}, query ${cell.query}${token(cell.query)}, key ${cell.key}${token(cell.key)}: ${weight}${rest}`;
}

function rowCells(data, { head, row }) {
  return Array.from({ length: data.columns }, (_, column) => cellAt(data, head, row, column));
}

// The row as bars, as high as the greatest of it (on the logarithmic scale: of one). What is pointed at has a mark of its
// own above them: the bars are the same wherever in the row it is.
function setSpread(grid, cell) {
  const { data, spread } = grid, canvas = spread.querySelector("canvas"), ratio = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (!width) return;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const row = rowCells(data, cell), top = row.reduce((best, other) => (other.code > best.code ? other : best));
  const pen = canvas.getContext("2d"), scale = data.colors === "log" ? "log" : "own maximum";
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = data.head_colors[cell.head % data.head_colors.length];
  for (const other of row) {
    const left = Math.floor((other.column * width) / data.columns), right = Math.ceil(((other.column + 1) * width) / data.columns);
    const high = other.code > ZERO ? Math.max(1, Math.round(position(other.weight, scale, top.weight, data.floor) * (height - 2))) : 0;
    const gap = width / data.columns > 4 * ratio ? ratio : 0;
    pen.fillRect(left, height - high, right - left - gap, high);
    if (other.column === cell.column) setArrow(canvas, (left + right - gap) / 2 / ratio, (height - high) / ratio);
  }
  const most = top.code > ZERO ? `: most ${number(top.code, top.weight)} at key ${named({ ...data, tokens: [] }, top.key, top.broad)}` : "";
  const first = cell.row * data.tile, last = Math.min(first + data.tile, data.queries) - 1;
  const who = data.tile > 1 ? `Queries ${first}–${last}` : `Query ${cell.query}`;
  spread.querySelector("p").textContent = `${who}${most}`;
}

// Where the arrow stands, and how far from the top of the canvas the bar begins that it ends at.
function setArrow(canvas, middle, top) {
  const bars = canvas.parentElement;
  bars.style.setProperty("--bar-middle", `${middle}px`);
  bars.style.setProperty("--bar-top", `${canvas.offsetTop + top}px`);
}

// Greatest first. Built only while it is open.
function setTable(grid, cell) {
  const { data, details } = grid;
  if (!details.open) return;
  const seen = rowCells(data, cell).filter((other) => other.code !== MASKED).sort((a, b) => b.code - a.code || a.key - b.key);
  const lines = seen.slice(0, TABLE).map((other) => {
    const line = make("tr");
    line.append(make("td", "", other.key), make("td", "", data.tokens[other.key] ?? ""), make("td", "", number(other.code, other.weight)));
    return line;
  });
  details.querySelector("tbody").replaceChildren(...lines);
  const rest = seen.length > TABLE ? `, the first ${TABLE} of ${seen.length}` : "";
  details.querySelector("summary").textContent = `Row as table: head ${cell.head}, query ${cell.query}${rest}`;
}

// The colour bar with its ticks.
function setScale({ root, data }) {
  const colors = ramp(data.stops), canvas = root.querySelector(".bar"), image = new ImageData(256, 1);
  new Uint32Array(image.data.buffer).forEach((_, i, out) => (out[i] = colors[Math.round((i * (RAMP - 1)) / 255)]));
  canvas.getContext("2d").putImageData(image, 0, 0);
  const marks = ticks(data).map(([at, text]) => {
    const mark = make("span", "", text);
    mark.style.left = `${100 * at}%`;
    return mark;
  });
  root.querySelector(".ticks").replaceChildren(...marks);
  root.querySelector(".scale-name").textContent = `weight${data.colors === "linear" ? "" : ` (${data.colors})`}`;
}

function ticks(data) {
  if (data.colors === "own maximum") return [[0, "0"], [0.5, "half"], [1, "head’s most"]];
  if (data.colors === "linear") return [0, 0.25, 0.5, 0.75, 1].map((at) => [at, `${at}`]);
  const decades = Math.round(-Math.log10(data.floor));
  return Array.from({ length: decades + 1 }, (_, i) => [i / decades, i > decades - 4 ? `${Number((10 ** (i - decades)).toPrecision(1))}` : `1e${i - decades}`]);
}
