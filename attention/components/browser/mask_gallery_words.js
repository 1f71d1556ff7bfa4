// The words of the gallery of masks.

export const MARKUP = `
<p class="legend"></p>
<ul class="first" aria-label="The masks that most models use"></ul>
<details>
  <summary>More masks</summary>
  <ul class="rest" aria-label="More masks">
    <li class="room">Combine cards with “and”, “or” or “without”.</li>
  </ul>
</details>`;

export const LEGEND = "Row: the word that attends (query). Column: one it may attend to (key). Hatched: masked.";

export const ROWS = "query ↓", COLUMNS = "key →";  // the axes where there is no room for words

/**
 * @param {string} row
 * @param {string} column
 * @param {boolean} visible
 */
export function pairSentence(row, column, visible) {
  return visible ? `${row} may attend to ${column}.` : `${row} may not attend to ${column}: the pair is masked.`;
}

/** @param {{ name: string, single: boolean }} card  a mask, or a combination, which can't be chosen */
export function cardLabel({ name, single }) {
  return single ? `Use this mask: ${name}` : name;
}
