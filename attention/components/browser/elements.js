// Elements of the page: found, made, drawn on, saved.

/**
 * The element that a selector finds below another; it is there, and of the kind that is asked for.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {{ new (): T }} [kind]
 * @returns {T}
 */
export function find(root, selector, kind) {
  const found = root.querySelector(selector);
  if (found instanceof (kind ?? HTMLElement)) return /** @type {T} */ (found);
  throw new TypeError(`There is no ${selector} of the kind that is drawn on.`);
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} [kind]
 * @param {string} [text]
 */
export function createElement(tag, kind, text) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * What a part of the page is drawn in: an element of its own, at the end of another.
 * @param {Element} element
 * @param {string} kind  its class, and what tests find it by
 * @param {string} markup
 */
export function createRoot(element, kind, markup) {
  const root = createElement("div", kind);
  root.dataset.testid = kind;
  root.innerHTML = markup;
  element.append(root);
  return root;
}

/**
 * What became of a drawing: laid out anew whenever its width changes, until it is destroyed.
 * @param {{ root: HTMLElement, width: number }} part  with the width for which it is laid out
 * @param {() => void} layOut
 * @param {(next: Uint8Array) => void} update
 * @param {() => void} [end]
 */
export function alive(part, layOut, update, end = () => {}) {
  const observer = new ResizeObserver(() => void (part.root.clientWidth !== part.width && layOut()));
  observer.observe(part.root);
  return {
    update,
    destroy: () => {
      observer.disconnect();
      end();
      part.root.remove();
    },
  };
}

/**
 * What an event happened to, or the nearest around it, that a selector finds.
 * @param {Event} event
 * @param {string} selector
 */
export function target(event, selector) {
  const found = event.target instanceof Element ? event.target.closest(selector) : null;
  return found instanceof HTMLElement && found.isConnected ? found : null;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
export function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (pen) return pen;
  throw new Error("The browser draws on no canvas.");
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {string} name
 */
export function saveAs(canvas, name) {
  canvas.toBlob((blob) => blob && saveBlob(blob, name));
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function saveBlob(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const SIGNS = new Intl.Segmenter();

/**
 * What a reader takes for the characters of a text, as the server splits it (attention/inputs.py).
 * @param {string} text
 */
export function signs(text) {
  return [...SIGNS.segment(text)].map((sign) => sign.segment);
}
