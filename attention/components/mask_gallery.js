// The gallery: paints a picture a mask, and tells the server which was chosen or joined.

const roots = new WeakMap();

// Called again for whatever changes, with the same parent: data, theme, a second mount.
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".mask-gallery");
  if (!root || !data) return;
  const send = (choice) => setTriggerValue("choice", choice);
  return newest(root, unpacked(data), (gallery) => update(root, gallery, send));
}

function update(root, gallery, send) {
  gallery.ink = channels(themed(root, gallery.neutrals, { accent: gallery.accent }).text);
  const list = root.querySelector("ul"), room = list.lastElementChild;
  const cards = roots.get(root) ?? [];
  while (cards.length < gallery.cards.length) cards.push(created(list, room));
  while (cards.length > gallery.cards.length) cards.pop().item.remove();
  roots.set(root, cards);
  gallery.cards.forEach((card, i) => show(cards[i], card, gallery, i, send));
  room.hidden = gallery.cards.some((card) => !card.single);  // its place is taken
  root.dataset.painted = gallery.painted;
}

// A header, a byte a cell, picture after picture.
function unpacked(bytes) {
  const [header, start] = opened(bytes), size = header.side * header.side;
  const picture = (i) => bytes.subarray(start + i * size, start + (i + 1) * size);
  return { ...header, picture };
}

function created(list, room) {
  const item = list.insertBefore(made("li", list), room);
  const button = made("button", item, "picture");
  const canvas = made("canvas", button);
  const about = made("div", item, "about");
  const name = made("p", about, "name");
  const lines = Array.from({ length: 4 }, () => made("p", about));
  const join = made("div", about, "join");
  return { item, button, canvas, name, lines, join, painted: null };
}

function made(tag, parent, kind = "") {
  const element = document.createElement(tag);
  element.className = kind;
  if (tag === "button") element.type = "button";
  return parent.appendChild(element);
}

function show(parts, card, gallery, i, send) {
  const { item, button, name, lines, join } = parts;
  item.classList.toggle("used", card.used);
  item.dataset.mask = card.name;
  item.title = card.title;
  button.disabled = !card.single;
  button.setAttribute("aria-pressed", card.used);
  button.setAttribute("aria-label", card.single ? `Use this mask: ${card.name}` : card.name);
  button.onclick = () => send({ mask: card.name, combine: "none" });
  name.onclick = card.single ? button.onclick : null;  // the button for a mouse that misses the picture
  name.replaceChildren(card.name, ...(card.mark ? [Object.assign(document.createElement("small"), { textContent: card.mark })] : []));
  lines.forEach((line, at) => {
    line.textContent = card.lines[at] ?? "";
    line.className = at < 3 ? "" : "muted";
  });
  while (join.children.length < card.joins.length) made("button", join);
  while (join.children.length > card.joins.length) join.lastChild.remove();
  for (const [at, how] of card.joins.entries()) {
    const chip = join.children[at];  // the same as before, as it may have the focus
    chip.textContent = how;
    chip.setAttribute("aria-pressed", card.joined === how);
    chip.setAttribute("aria-label", `${how} ${card.name}`);
    chip.onclick = () => send(card.joined === how ? { combine: "none" } : { combine: how, second: card.name });
  }
  paint(parts, gallery, gallery.picture(i));
}

// The ink as dense as what is kept; the hatch behind shows what is hidden.
function paint(parts, { side, ink }, cells) {
  const { canvas, painted } = parts, color = ink.join();
  if (painted?.color === color && same(painted.cells, cells)) return;
  canvas.width = canvas.height = side;
  const image = new ImageData(side, side);
  for (let i = 0; i < cells.length; i++) {
    image.data.set(ink, 4 * i);
    image.data[4 * i + 3] = cells[i];
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  parts.painted = { color, cells: cells.slice() };
}

function same(a, b) {
  return a.length === b.length && a.every((cell, i) => cell === b[i]);
}
