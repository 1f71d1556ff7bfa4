// The picture: cells, axes and scale of the part that is looked at, on one canvas. Sizes are CSS pixels.

const LEFT = 62, RIGHT = 64, TOP = 8, BELOW = 40, NAMED = 76, TICKS = 6, NAMES = 24, CUT = 9, BAR = 12;
const SIGNS = new Intl.Segmenter();  // what a reader takes for one character, as the server does

// Where the square stands, and how large it is: as long as there is room, in the proportions of what it shows.
function placed(width, view, data) {
  const named = namesOf(data, view).across.length > 0, below = named ? NAMED : BELOW;
  const room = Math.max(60, Math.min(width - LEFT - RIGHT, data.height - TOP - below));
  const longest = Math.max(view.high, view.wide), side = (tokens) => Math.max(24, Math.round((room * tokens) / longest));
  return { left: LEFT, top: TOP, width: side(view.wide), height: side(view.high), room, below };
}

// The tokens beside the axes, where they are so few that each has a line.
function namesOf(data, { high, wide }) {
  const shown = data.tile === 1 && Math.max(high, wide) <= NAMES;
  return { down: shown ? data.names[0] : [], across: shown ? data.names[1] : [] };
}

function draw(lab) {
  const { data, root, canvas } = lab, width = root.clientWidth;
  if (!width) return;
  lab.width = width;
  lab.ratio = window.devicePixelRatio || 1;
  const place = (lab.place = placed(width, lab.view, data)), tall = place.top + place.room + place.below;
  lab.cells = cellsOf(lab);
  Object.assign(canvas, { width: Math.round(width * lab.ratio), height: Math.round(tall * lab.ratio) });
  Object.assign(canvas.style, { width: `${width}px`, height: `${tall}px` });
  canvas.dataset.square = [place.left, place.top, place.width, place.height].join(" ");  // for whoever points by script
  const pen = canvas.getContext("2d");
  pen.scale(lab.ratio, lab.ratio);
  pen.font = `11px ${getComputedStyle(root).fontFamily}`;
  drawCells(pen, lab);
  drawAxes(pen, lab);
  drawScale(pen, lab);
}

// What the server sent, each pixel of it the greatest code under it; it stays while the data and the size do.
function cellsOf({ data, place, ratio, cells }) {
  const key = [place.width, place.height, ratio, data.colors].join();
  if (cells?.data === data && cells.key === key) return cells;
  const canvas = document.createElement("canvas"), [codes] = data.codes, { rows, columns, tile, queries, keys } = data;
  const pixels = (side, cells, tokens) => Math.max(1, Math.round((side * ratio * cells * tile) / tokens));  // with what the last tiles have too much
  Object.assign(canvas, { width: pixels(place.width, columns, keys), height: pixels(place.height, rows, queries) });
  const most = greatest(codes);
  paint(canvas, data, codes, data.colors === "own maximum" && most > ZERO ? 1 / weightsOf(data)[most] : 1);
  return { data, key, canvas, most };
}

// The part that is looked at. Where it isn't yet what the server sent, that is stretched, and the ground shows around it.
function drawCells(pen, lab) {
  const { place, view, data, cells, neutrals } = lab, there = windowOf(data), { tile, rows, columns } = data;
  const x = (token) => place.left + ((token - view.left) / view.wide) * place.width;
  const y = (token) => place.top + ((token - view.top) / view.high) * place.height;
  pen.save();
  pen.beginPath();
  pen.rect(place.left, place.top, place.width, place.height);
  pen.clip();
  const [left, top] = [x(there.left), y(there.top)];
  pen.beginPath();
  pen.rect(left, top, x(there.left + there.wide) - left, y(there.top + there.high) - top);
  pen.clip();  // the last tiles reach beyond the end
  pen.fillStyle = hatch(pen, neutrals);
  pen.fill();
  pen.imageSmoothingEnabled = false;
  pen.drawImage(cells.canvas, left, top, x(there.left + columns * tile) - left, y(there.top + rows * tile) - top);
  pen.restore();
  pen.strokeStyle = neutrals.line;
  pen.strokeRect(place.left - 0.5, place.top - 0.5, place.width + 1, place.height + 1);
  const middle = y(data.query + 0.5), size = Math.max(3, place.height / view.high);
  if (middle < place.top || middle > place.top + place.height) return;
  pen.fillStyle = data.accents.query;  // the query in focus, beside the square: no cell is covered
  pen.fillRect(place.left - 5, middle - size / 2, 3, size);
  pen.fillRect(place.left + place.width + 2, middle - size / 2, 3, size);
}

function drawAxes(pen, { place, view, data, neutrals }) {
  const names = namesOf(data, view);
  pen.fillStyle = neutrals.muted;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (const [token, text] of marks(view.top, view.high, data.tokens, names.down, data.first[0], place.height / 16)) {
    pen.fillText(text, place.left - 8, place.top + ((token + 0.5 - view.top) / view.high) * place.height, LEFT - 22);
  }
  for (const [token, text] of marks(view.left, view.wide, data.tokens, names.across, data.first[1], place.width / 44)) {
    pen.save();
    pen.translate(place.left + ((token + 0.5 - view.left) / view.wide) * place.width, place.top + place.height + 7);
    if (names.across.length) pen.rotate(-Math.PI / 2);
    pen.textAlign = names.across.length ? "right" : "center";
    pen.fillText(text, 0, names.across.length ? 0 : 6);
    pen.restore();
  }
  pen.textAlign = "center";
  pen.fillText("key →", place.left + place.width / 2, place.top + place.height + place.below - 8);
  pen.translate(9, place.top + place.height / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText("query ←", 0, 0);
  pen.rotate(Math.PI / 2);
  pen.translate(-9, -place.top - place.height / 2);
}

// Tokens that get a mark, and what it says: names where there are any, otherwise round positions.
function marks(first, size, tokens, names, start, room) {
  if (names.length) return names.map((name, i) => [start + i, cut([...SIGNS.segment(name)])]);
  const least = size / Math.max(1, Math.min(TICKS, room)), power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].map((times) => times * power).find((each) => each >= least)), found = [];
  for (let token = Math.ceil(first / step) * step; token < Math.min(first + size, tokens); token += step) found.push([token, token.toLocaleString("en")]);
  return found;
}

function cut(signs) {
  const text = (some) => some.map((sign) => sign.segment).join("");
  return signs.length > CUT ? `${text(signs.slice(0, CUT - 1))}…` : text(signs);
}

function drawScale(pen, { place, data, cells, neutrals }) {
  const left = place.left + place.width + 14, colors = ramp(data.stops);
  const strip = document.createElement("canvas"), image = new ImageData(1, 256);
  Object.assign(strip, { width: 1, height: 256 });
  new Uint32Array(image.data.buffer).forEach((_, i, out) => (out[i] = colors[Math.round(((255 - i) * (RAMP - 1)) / 255)]));
  strip.getContext("2d").putImageData(image, 0, 0);
  const high = place.room - 18, top = place.top + 18;
  pen.drawImage(strip, left, top, BAR, high);
  pen.strokeRect(left - 0.5, top - 0.5, BAR + 1, high + 1);
  pen.fillStyle = neutrals.muted;
  pen.textAlign = "left";
  pen.fillText("weight", left, place.top + 5);
  for (const [at, text] of scaleMarks(data, cells.most)) pen.fillText(text, left + BAR + 4, top + (1 - at) * high, RIGHT - BAR - 20);
}

function scaleMarks(data, most) {
  if (data.colors === "own maximum") return [[0, "0"], [1, most > ZERO ? number(most, weightsOf(data)[most]) : "0"]];
  if (data.colors === "linear") return [[0, "0"], [0.5, "0.5"], [1, "1"]];
  const decades = Math.round(-Math.log10(data.floor));
  return Array.from({ length: decades + 1 }, (_, i) => [i / decades, `${i ? "" : "≤ "}${Number((10 ** (i - decades)).toPrecision(1))}`]);
}
