// Where everything goes: the squares, their titles, axes and labels. Sizes are whole CSS pixels.

const TITLE = 18, GAP = 10, MARGIN = 14, EDGE = 5, PANEL = 160, APART = 16, WIDE = 620, ROOMY = 6, LABELLED = 24, LEAST_LABEL = 8.4;
const SIGNS = new Intl.Segmenter();  // what a reader takes for one character, as the server does

// Columns and side of the squares: in a wide window as large as the height allows, in a narrow one two a row.
function arranged(data, width) {
  const wide = width >= WIDE, longest = Math.max(data.rows, data.columns);
  const fitted = (margin, below) => {
    const area = (wide ? width - PANEL - APART : width) - margin - EDGE, tall = data.height - below;
    const sideOf = (columns) => {
      const rows = Math.ceil(data.heads / columns);
      const across = (area - GAP * (columns - 1)) / columns, down = (tall - GAP * (rows - 1)) / rows - TITLE;
      return Math.floor(wide ? Math.min(across, down) : across);
    };
    const choices = wide ? Array.from({ length: data.heads }, (_, i) => i + 1) : [Math.min(2, data.heads)];
    // Full rows look calmer: a grid with a gap in it must be a tenth larger to be preferred.
    const worth = (columns) => sideOf(columns) * (data.heads % columns ? 1 : 1.1);
    const columns = choices.reduce((best, columns) => (worth(columns) > worth(best) ? columns : best));
    return { wide, columns, side: Math.max(24, sideOf(columns)), margin, below };
  };
  const plain = fitted(MARGIN, 20);
  if (!data.tokens.length || longest > LABELLED || data.tile > 1 || plain.side / longest < LEAST_LABEL + 1) return snapped(plain, data);
  const room = Math.min(58, 12 + 5.6 * Math.max(...data.tokens.map((token) => [...SIGNS.segment(token)].length)));
  const labelled = fitted(Math.max(40, Math.round(room)), Math.round(room) + 4);
  return snapped(labelled.side / longest >= LEAST_LABEL ? { ...labelled, labels: Math.round(room) } : plain, data);
}

// The side as device pixels: a whole number of them a cell, where that costs little of the size.
function snapped(plan, { rows, columns }) {
  const ratio = window.devicePixelRatio || 1, longest = Math.max(rows, columns);
  const pixels = Math.floor(plan.side * ratio), whole = Math.floor(pixels / longest) * longest;
  const side = whole >= 0.88 * pixels ? whole : pixels;
  const [high, broad] = [rows, columns].map((cells) => Math.max(1, Math.round((side * cells) / longest)));
  const cell = { height: high / rows / ratio, width: broad / columns / ratio };
  return { ...plan, ratio, high, broad, cell, height: high / ratio, width: broad / ratio };
}

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

// As many figures as there are heads; those that are there stay.
function setFigures(grid) {
  const { heads } = grid.data;
  while (grid.figures.length > heads) grid.figures.pop().remove();
  while (grid.figures.length < heads) {
    const figure = make("figure"), caption = make("figcaption"), square = make("div", "square");
    caption.append(make("b", "", `Head ${grid.figures.length}`), make("span"));
    square.dataset.head = grid.figures.length;
    square.append(make("canvas"), make("i", "pinned"), make("i", "row"), make("i", "column"));
    figure.append(caption, square);
    grid.figures.push(figure);
    grid.heads.append(figure);
  }
}

function setLayout(grid, plan) {
  grid.plan = plan;
  const { heads, root } = grid, { cell } = plan;
  root.classList.toggle("wide", plan.wide);
  root.style.minHeight = plan.wide ? `${grid.data.height}px` : "";
  heads.style.padding = `0 ${EDGE}px ${plan.below}px ${plan.margin}px`;
  heads.style.gap = `${GAP}px`;
  heads.style.setProperty("--gap", `${GAP}px`);
  heads.style.gridTemplateColumns = `repeat(${plan.columns}, ${plan.width}px)`;
  heads.classList.toggle("roomy", Math.min(cell.width, cell.height) >= ROOMY);
  for (const figure of grid.figures) {
    const [square, canvas] = [figure.querySelector(".square"), figure.querySelector("canvas")];
    Object.assign(square.style, { width: `${plan.width}px`, height: `${plan.height}px` });
    if (canvas.width !== plan.broad || canvas.height !== plan.high) {
      Object.assign(canvas, { width: plan.broad, height: plan.high });
      figure.painted = null;
    }
  }
  setLabels(grid);
}

// Names of the axes once, tokens beside the first square of each row and under the last of each column.
function setLabels({ heads, figures, data, plan }) {
  for (const old of heads.querySelectorAll(".axis, .label")) old.remove();
  figures.forEach((figure, h) => {
    const square = figure.querySelector(".square");
    if (h % plan.columns === 0 && plan.labels) data.tokens.forEach((token, i) => square.append(down(token, i, plan)));
    if (h + plan.columns >= figures.length && plan.labels) data.tokens.forEach((token, i) => square.append(across(token, i, plan)));
  });
  const query = make("span", plan.labels ? "axis" : "axis upright", plan.labels ? "query ↓" : "query →");
  Object.assign(query.style, plan.labels ? { right: `${plan.width + 4}px`, top: 0 } : { left: "-14px", top: `${TITLE}px` });
  const key = make("span", "axis", "key →");
  Object.assign(key.style, { top: "calc(100% + 2px)" }, plan.labels ? { right: `${plan.width + 7}px` } : { left: 0 });
  figures[0].append(query);
  figures[Math.floor((figures.length - 1) / plan.columns) * plan.columns].append(key);
}

function fontOf(size) {
  return `${Math.min(11, size - 0.6)}px`;
}

function down(token, i, { cell, labels }) {
  const label = make("span", "label down", token), size = cell.height;
  Object.assign(label.style, { right: "calc(100% + 7px)", width: `${labels - 9}px`, top: `${i * size}px`, height: `${size}px`, lineHeight: `${size}px` });
  label.style.setProperty("--label", fontOf(size));
  return label;
}

function across(token, i, { cell, labels }) {
  const label = make("span", "label across", token), size = cell.width;
  Object.assign(label.style, { top: "calc(100% + 7px)", height: `${labels - 6}px`, left: `${i * size}px`, width: `${size}px`, lineHeight: `${size}px` });
  label.style.setProperty("--label", fontOf(size));
  return label;
}
