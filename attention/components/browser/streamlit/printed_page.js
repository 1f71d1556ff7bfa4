// What a printed page has and the screen has not: the width of its layout, its link as text and as a QR code, and the answers
// that were revealed, on a page of their own.

const PAPER = 680;  // pixels of a line on paper: A4 or Letter, upright, without margins
const ANSWERS = "Answers";

/** @type {Set<Element>} */
const moved = new Set();  // answers that are printed on the last page instead

addEventListener("beforeprint", () => {
  const page = document.querySelector(".stMainBlockContainer");
  if (!(page instanceof HTMLElement)) return;
  const wide = page.getBoundingClientRect().width;  // canvases keep the width that they have on the screen
  page.style.setProperty("--print-width", `${wide}px`);
  page.style.setProperty("--print-zoom", `${Math.min(1, PAPER / wide)}`);
  const end = page.querySelector(":scope > .printed-end") ?? page.appendChild(document.createElement("div"));
  end.className = "printed-end";
  end.innerHTML = fetchCode();
  append(end, "p", location.href);
  const answers = revealedAnswers(page);
  if (!answers.length) return;
  const last = append(end, "section", "");
  append(last, "h3", ANSWERS);
  for (const { question, answer } of answers) {
    if (question) last.append(question.cloneNode(true));
    last.append(answer.cloneNode(true));
    answer.classList.add("printed-elsewhere");
    moved.add(answer);
  }
});

addEventListener("afterprint", () => {
  for (const answer of moved) answer.classList.remove("printed-elsewhere");
  moved.clear();
});

/**
 * The answers on a page, each beside the switch that reveals it, with their questions.
 * @param {Element} page
 */
function revealedAnswers(page) {
  return [...page.querySelectorAll(".stElementContainer:has(> .stAlert)")].flatMap((answer) => {
    const block = answer.closest(".stVerticalBlock");
    if (!block?.querySelector('[class*="st-key-reveal-"]')) return [];
    const texts = block.querySelectorAll(":scope > .stElementContainer > .stMarkdown");
    return [{ question: texts[texts.length - 1], answer }];
  });
}

/**
 * @param {Element} parent
 * @param {string} name
 * @param {string} text
 */
function append(parent, name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}

/** The QR code of the link as an SVG, "" without one. The page is about to be printed, so it waits for the answer. */
function fetchCode() {
  const request = new XMLHttpRequest();
  try {
    request.open("GET", `${new URL(".", location.href)}qr.svg?url=${encodeURIComponent(location.href)}`, false);
    request.send();
    return request.status === 200 ? request.responseText : "";
  } catch {
    return "";  // the server is gone
  }
}
