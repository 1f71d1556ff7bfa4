// The words around the tokens that are joined by lines.

export const MARKUP = `
<p class="said"></p>
<div class="sides">
  <span class="of-query">query</span><span class="left-out"></span><span class="of-key">key</span>
</div>
<div class="box" tabindex="0" role="application" aria-roledescription="words with lines">
  <div class="stage">
    <div class="words queries"></div>
    <div class="middle"><canvas class="base"></canvas><canvas class="lit"></canvas></div>
    <div class="words keys"></div>
  </div>
</div>
<p class="hint"><kbd>↑</kbd><kbd>↓</kbd> word, <kbd>←</kbd><kbd>→</kbd> side, click or <kbd>Enter</kbd> selects a
  query, <kbd>Esc</kbd> goes back</p>
<p class="files">Save as <button type="button" data-file="svg">SVG</button>
  <button type="button" data-file="png">PNG</button></p>
<p class="live" aria-live="polite"></p>`;

const KINDS = /** @type {const} */ (["query", "key"]);

/** @param {{ head: number, queries: number, keys: number }} sizes */
export function boxLabel({ head, queries, keys }) {
  const words = `${queries} queries on the left, ${keys} keys on the right`;
  return `Head ${head}: ${words}, joined by their weights. Arrow keys move.`;
}

/** @param {number} lines  those that are not drawn */
export function leftOut(lines) {
  return lines ? `${lines.toLocaleString("en")} under 1/256 of the scale left out` : "";
}

/** @param {string} link */
export function linkOfFile(link) {
  return `Attention Lab: ?${link}`;
}

/**
 * A token and its position in the sequence, as in “boat” (17), or query 17 if it has no text.
 * @param {{ side: 0 | 1, at: number, name: string | undefined }} token
 */
export function tokenText({ side, at, name }) {
  return name === undefined ? `${KINDS[side]} ${at}` : `“${name}” (${at})`;
}

/**
 * What a query attends to most, or which queries attend most to a key. `largest`: weights with the other token, `rest`: the
 * number of others.
 * @param {{ token: string, side: 0 | 1, selected: boolean, difference: boolean, largest: [string, string][], rest: number }} row
 */
export function rowText({ token, side, selected, difference, largest, rest }) {
  const who = `${token[0].toUpperCase()}${token.slice(1)}${selected ? "" : " (not selected)"}`;
  if (!largest.length) return `${who} ${difference ? equalText(side) : nothingText(side)}.`;
  const some = largest.map(([weight, other]) => `${weight} ${side ? "from" : "on"} ${other}`).join(", ");
  return `${who}${difference ? ", B − A:" : side ? " gets" : " puts"} ${some}${rest ? `, and ${rest} more` : ""}.`;
}

/** @param {0 | 1} side */
function equalText(side) {
  return `is equal in A and B for these ${side ? "queries" : "keys"}`;
}

/** @param {0 | 1} side */
function nothingText(side) {
  return side ? "gets weight from none of these queries" : "attends to none of these keys";
}
