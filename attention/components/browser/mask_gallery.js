// The gallery of masks: `draw` adds one picture per mask to an element of any page, and reports a choice or combination.

import { createElement, find, penOf, createRoot } from "./elements.js";
import { cardLabel, clickHint, joinTitle, MARKUP, roomText } from "./mask_gallery_words.js";
import { openMessage } from "./message.js";
import { channels, applyTheme } from "./theme.js";

/**
 * @typedef {import("./message.js").GalleryHeader & { picture: (i: number) => Uint8Array }} Gallery
 * @typedef {{ mask?: string, combine: string, second?: string }} Choice
 * @typedef {{ onChoice?: (choice: Choice) => void }} Ways
 */

/**
 * The elements of a card, and what was last painted into it.
 * @typedef {object} Parts
 * @property {HTMLElement} item
 * @property {HTMLButtonElement} button
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} name
 * @property {HTMLElement} shows
 * @property {HTMLElement} masked
 * @property {{ color: string, cells: Uint8Array } | null} painted
 */

const SIDE = 40;  // length of the longer side of a picture in pixels

/**
 * Draws the masks at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 * @param {Ways} [ways]
 */
export function draw(element, bytes, ways = {}) {
  const root = createRoot(element, "mask-gallery", MARKUP);
  /** @type {Parts[]} */
  const cards = [];
  let shown = unpackPictures(bytes), how = shown.cards.find(({ joined }) => joined)?.joined ?? "";
  const send = (/** @type {Choice} */ choice) => ways.onChoice?.(choice);
  const show = () => {
    if (!shown.cards.some(({ joins }) => joins.includes(how))) how = "";
    setHow(root, shown, how, (next) => {
      how = next;
      show();
    });
    showGallery(root, cards, shown, how, send);
  };
  const update = (/** @type {Uint8Array} */ next) => {
    shown = unpackPictures(next);
    show();
  };
  show();
  const used = root.querySelector("li.used");
  if (used instanceof HTMLElement) find(root, "ul").scrollLeft = used.offsetLeft - used.offsetWidth - 8;  // in a strip
  return { update, destroy: () => root.remove() };
}

/**
 * Shows what a click on a mask does: it uses the mask, or combines it with the one in use.
 * @param {HTMLElement} root
 * @param {Gallery} gallery
 * @param {string} how  "" to use it
 * @param {(how: string) => void} choose
 */
function setHow(root, gallery, how, choose) {
  const group = find(root, ".how"), joins = gallery.cards.find(({ joins }) => joins.length)?.joins ?? [];
  while (group.children.length < joins.length) pressable(group);
  while (group.children.length > joins.length) group.lastElementChild?.remove();
  group.querySelectorAll("button").forEach((button, at) => {
    const pressed = joins[at] === how;
    button.textContent = joins[at];
    button.title = joinTitle(joins[at]);
    button.setAttribute("aria-pressed", `${pressed}`);
    button.onclick = () => choose(pressed ? "" : joins[at]);
  });
  const made = how !== "" && gallery.cards.some(({ joined }) => joined === how);
  const used = (made && gallery.cards.find((card) => card.used)?.name) || "";
  find(root, ".hint").textContent = clickHint({ how, joins: joins.length > 0, used, first: firstName(gallery) });
}

/** @param {Gallery} gallery  whose first mask, which others can be combined with, has a name */
function firstName({ cards }) {
  return cards.find(({ joins }) => !joins.length)?.name ?? "";
}

/**
 * @param {HTMLElement} root
 * @param {Parts[]} cards
 * @param {Gallery} gallery
 * @param {string} how
 * @param {(choice: Choice) => void} send
 */
function showGallery(root, cards, gallery, how, send) {
  const ink = channels(applyTheme(root, gallery.neutrals, { accent: gallery.accent }).text);
  const list = find(root, "ul"), room = find(root, ".room");
  while (cards.length < gallery.cards.length) cards.push(createCard(list.insertBefore(createElement("li"), room)));
  while (cards.length > gallery.cards.length) cards.pop()?.item.remove();
  gallery.cards.forEach((card, i) => {
    show(cards[i], card, how, send);
    paint(cards[i], ink, gallery.sides, gallery.picture(i));
  });
  setPurposes(list, cards, gallery);
  room.textContent = roomText({ first: firstName(gallery), how });
  room.hidden = !how || gallery.cards.some((card) => !card.single);  // the card of a combined mask takes its place
  root.dataset.painted = gallery.painted;
}

/**
 * Unpacks a message: a header, then one byte per cell, picture after picture.
 * @param {Uint8Array} bytes
 * @returns {Gallery}
 */
function unpackPictures(bytes) {
  const [header, start] = openMessage(bytes), size = header.sides[0] * header.sides[1];
  const picture = (/** @type {number} */ i) => bytes.subarray(start + i * size, start + (i + 1) * size);
  return { ...header, picture };
}

/**
 * @param {HTMLElement} item
 * @returns {Parts}
 */
function createCard(item) {
  const button = pressable(item, "picture"), canvas = button.appendChild(createElement("canvas"));
  const about = item.appendChild(createElement("div", "about")), name = about.appendChild(createElement("p", "name"));
  const shows = about.appendChild(createElement("p"));
  const masked = about.appendChild(createElement("p", "muted"));
  return { item, button, canvas, name, shows, masked, painted: null };
}

/**
 * @param {HTMLElement} parent
 * @param {string} [kind]
 */
function pressable(parent, kind) {
  const button = createElement("button", kind);
  button.type = "button";
  return parent.appendChild(button);
}

/**
 * Writes the purpose of masks above the first card that has it.
 * @param {HTMLElement} list
 * @param {Parts[]} cards
 * @param {Gallery} gallery
 */
function setPurposes(list, cards, gallery) {
  for (const old of list.querySelectorAll(".purpose")) old.remove();
  gallery.cards.forEach(({ purpose }, i) => {
    if (!purpose || purpose === gallery.cards[i - 1]?.purpose) return;
    list.insertBefore(createElement("li", "purpose", purpose), cards[i].item);
  });
}

/**
 * @param {Parts} parts
 * @param {import("./message.js").Card} card
 * @param {string} how
 * @param {(choice: Choice) => void} send
 */
function show({ item, button, name, shows, masked }, card, how, send) {
  const joins = card.joins.includes(how), pressed = joins ? card.joined === how : card.used;
  item.classList.toggle("used", card.used);
  item.classList.toggle("combined", !card.single);
  item.dataset.mask = card.name;
  item.title = card.title;
  button.disabled = !card.single || Boolean(how && !joins);
  item.classList.toggle("idle", button.disabled);
  button.setAttribute("aria-pressed", `${pressed}`);
  button.setAttribute("aria-label", cardLabel({ ...card, how }));
  item.onclick = () => {  // of the picture, which keys press, too
    if (button.disabled) return;
    if (!how) send({ mask: card.name, combine: "none" });
    else send(pressed ? { combine: "none" } : { combine: how, second: card.name });
  };
  const mark = card.mark ? [createElement("small", "", card.mark)] : [];
  name.replaceChildren(card.name, ...mark, createElement("span", "share", card.share));
  shows.textContent = card.shows;
  shows.hidden = !card.shows;
  masked.textContent = card.masked;
  masked.hidden = !card.masked;
}

/**
 * Paints a picture: the opacity of a cell is the share of pairs that are kept. The hatching behind shows masked pairs.
 * @param {Parts} parts
 * @param {number[]} ink
 * @param {[number, number]} sides  rows and columns
 * @param {Uint8Array} cells
 */
function paint(parts, ink, [high, wide], cells) {
  const { canvas, painted } = parts, color = [...ink, high, wide].join();
  const longer = Math.max(high, wide);
  if (painted?.color === color && same(painted.cells, cells)) return;
  Object.assign(canvas, { width: wide, height: high });
  Object.assign(canvas.style, { width: `${(SIDE * wide) / longer}px`, height: `${(SIDE * high) / longer}px` });
  const image = new ImageData(wide, high);
  for (let i = 0; i < cells.length; i++) {
    image.data.set(ink, 4 * i);
    image.data[4 * i + 3] = cells[i];
  }
  penOf(canvas).putImageData(image, 0, 0);
  parts.painted = { color, cells: cells.slice() };
}

/**
 * @param {Uint8Array} a
 * @param {Uint8Array} b
 */
function same(a, b) {
  return a.length === b.length && a.every((cell, i) => cell === b[i]);
}
