// Finds and creates elements of the page, and saves canvases and blobs as files.

/**
 * Returns the element that a selector finds in another. Throws TypeError if there is none of the given class.
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
 * Appends an element with the given markup, in which a component is drawn.
 * @param {Element} element
 * @param {string} kind  its class and its test id
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
 * Returns the handle of a component, which is laid out again whenever its width changes, until it is destroyed.
 * @param {{ root: HTMLElement, width: number }} part  `width`: that for which it is laid out
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
 * Returns the element of an event, or its nearest ancestor, that matches a selector; null if none does.
 * @param {Event} event
 * @param {string} selector
 */
export function target(event, selector) {
  const found = event.target instanceof Element ? event.target.closest(selector) : null;
  return found instanceof HTMLElement && found.isConnected ? found : null;
}

/**
 * Scrolls an element to the top of the window, without motion for those who want none.
 * @param {HTMLElement} element
 * @param {string} above  how much above it stays visible, as a length in CSS
 */
export function scrollToStart(element, above) {
  element.style.scrollMarginTop = above;
  scroll(element, "start");
}

/**
 * Scrolls only as far as an element needs to be visible between the menu and the lower edge of the window.
 * @param {HTMLElement} element
 */
export function scrollToNearest(element) {
  element.style.scrollMarginBlock = "5rem 1rem";
  scroll(element, "nearest");
}

/**
 * @param {HTMLElement} element
 * @param {ScrollLogicalPosition} block
 */
function scroll(element, block) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ behavior: still ? "auto" : "smooth", block });
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
 * Returns the grapheme clusters of a text, as the server splits it (attention/inputs.py).
 * @param {string} text
 */
export function signs(text) {
  return [...SIGNS.segment(text)].map((sign) => sign.segment);
}
