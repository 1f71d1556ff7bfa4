// The words of the enlarged head.

export const MARKUP = `
<div class="square" tabindex="0" role="application" aria-roledescription="heat map of attention weights">
  <canvas></canvas><i class="row"></i><i class="column"></i><i class="box"></i>
</div>
<p class="said"></p>
<div class="foot">
  <button type="button" data-act="in" title="Zoom in (+)">Zoom in</button>
  <button type="button" data-act="out" title="Zoom out (−)">Zoom out</button>
  <button type="button" data-act="whole" title="The whole head (0)">Whole head</button>
  <button type="button" data-act="png" title="Save this picture">PNG</button>
  <span class="hint pointer">Drag a rectangle, or click and scroll; <kbd>+</kbd><kbd>−</kbd> zoom,
    <kbd>←</kbd><kbd>→</kbd><kbd>↑</kbd><kbd>↓</kbd> move, <kbd>0</kbd> whole</span>
  <span class="hint touch">Tap a cell to read it, then Zoom in</span>
</div>
<p class="live" aria-live="polite"></p>`;

export const QUERY = "query ←", KEY = "key →";

/**
 * The name of an axis, and that some of its tokens have no label.
 * @param {string} name
 * @param {number} labels
 * @param {number} tokens
 */
export function axisText(name, labels, tokens) {
  return labels < tokens ? `${name} (not all labelled)` : name;
}

/** @param {{ head: number, rows: [number, number], columns: [number, number] }} part  first and last token of each side */
export function partLabel({ head, rows, columns }) {
  const part = `queries ${rows[0]} to ${rows[1]}, keys ${columns[0]} to ${columns[1]}`;
  return `Head ${head}, ${part}. Plus and minus zoom, arrow keys move, 0 shows the whole head.`;
}

/** @param {{ rows: [number, number], columns: [number, number] }} part */
export function partText({ rows, columns }) {
  return `Queries ${rows[0]} to ${rows[1]}, keys ${columns[0]} to ${columns[1]}.`;
}

/**
 * A token: its position with its text, or the range of those of a cell.
 * @param {{ from: number, count: number, name: string | undefined }} token
 */
export function tokenText({ from, count, name }) {
  const start = from.toLocaleString("en");
  if (count > 1) return `${start} to ${(from + count - 1).toLocaleString("en")}`;
  return name === undefined ? start : `${start} ${name}`;
}

/**
 * What a query puts on a key of a map that has a cell for each pair, in words.
 * @param {{ query: string, key: string, share: string }} pair  tokens as `quotedToken` says them; the share "" if masked
 */
export function wordsText({ query, key, share }) {
  return share ? `${query} puts ${share} of its weight on ${key}.` : `${key} is masked for ${query}.`;
}

/**
 * A token in quotes with its position.
 * @param {number} at
 * @param {string} name
 */
export function quotedToken(at, name) {
  return `“${name}” (${at})`;
}

/**
 * What precedes the number of a cell: its place, and of how many weights the number is the maximum or the mean.
 * @param {{
 *   sampled: boolean, query: string, key: string, pool: string, queryCount: number, keyCount: number, sides: boolean,
 * }} cell
 */
export function cellText({ sampled, query, key, pool, queryCount, keyCount, sides }) {
  const pooled = `${pool === "max" ? "largest" : "mean"} of ${queryCount} × ${keyCount}`;
  const what = queryCount * keyCount > 1 ? pooled : sides ? "B − A" : "weight";
  return `${sampled ? "preview from one query per tile: " : ""}query ${query}, key ${key}: ${what} `;
}
