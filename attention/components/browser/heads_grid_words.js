// The words of the grid of heads: its markup, the lines of its readout, and sentences about a cell.

/**
 * A cell in words: its query and key, its weight, and whether it is masked. `rest` is what the rest of a row goes to, null if
 * rows sum to anything; of a difference, `alone` is the only side on which the key is visible.
 * @typedef {object} Pair
 * @property {string} query
 * @property {string} key
 * @property {string} weight
 * @property {boolean} masked
 * @property {string | null | undefined} rest
 * @property {boolean} sides
 * @property {string} alone
 */

// The lines of the readout. To add one, write it here and in LINES of heads_grid_readout.js, and its text in `setReadout`. A
// narrow window shows only the lines that heads_grid.css names (`&:not(.wide) .readout`).
const READOUT = `
  <dl class="readout">
    <dd class="said" data-of="said"></dd>
    <dt class="of-head">head</dt><dd data-of="head"></dd>
    <dt class="of-query">query</dt><dd data-of="query"></dd>
    <dt class="of-key">key</dt><dd data-of="key"></dd>
    <dt class="of-weight">weight</dt><dd data-of="weight"></dd>
    <dt class="of-side">A</dt><dd class="of-side" data-of="first"></dd>
    <dt class="of-side">B</dt><dd class="of-side" data-of="second"></dd>
    <dt class="of-even">vs uniform</dt><dd class="of-even" data-of="even"></dd>
    <dd class="note" data-of="note"></dd>
  </dl>`;

export const MARKUP = `
<div class="tokens" hidden><div class="chips"></div><p>
  <span><i class="current"></i>current, click another</span>
  <span class="of-copy"><i class="copy"></i>same token before</span>
  <span><i class="weighed"></i><span class="whose"></span></span>
  <span><i class="next"></i>next</span>
  <span class="axes">maps: query ↓ key →</span>
</p></div>
<div class="heads" tabindex="0" role="application" aria-roledescription="heat maps of attention weights">
  <div class="squares"></div>
</div>
<div class="panel">
  <div class="scale">
    <div class="scale-head"><span class="scale-name"></span><span class="of-masked"><i class="swatch"></i>masked</span></div>
    <canvas class="bar" width="256" height="1"></canvas>
    <div class="ticks"></div>
    <p class="why"></p>
    <button type="button" class="percent" title="Set the colour scale to linear" hidden>Show as percent</button>
  </div>
  ${READOUT}
  <div class="spread"><div class="bars"><canvas></canvas><i></i><div class="names" aria-hidden="true"></div></div><p></p></div>
  <details class="table">
    <summary>Row as table</summary>
    <div class="rows" tabindex="0" aria-label="Keys of the row, largest weight first"><table>
      <thead><tr><th scope="col">key</th><th scope="col">token</th><th scope="col">weight</th></tr></thead>
      <tbody></tbody>
    </table></div>
  </details>
  <details class="hint"><summary>Keyboard</summary><p>
    <kbd>↑</kbd><kbd>↓</kbd><kbd>←</kbd><kbd>→</kbd> cell, <kbd>[</kbd><kbd>]</kbd> head,
    click or <kbd>Enter</kbd> pins, <kbd>Esc</kbd> releases
  </p></details>
  <div class="foot">
    <span class="mark"></span>
    <button type="button" class="png" title="Save all heads as one picture">PNG</button>
  </div>
</div>
<p class="live" aria-live="polite"></p>`;

export const QUERY_UP = "query ↑", KEY = "key →", MASKED_CELLS = "masked";
export const ROW_LATER = "The row is drawn once this head is exact.";
export const WEIGHT = "weight", DIFFERENCE = "B − A", FULLY_MASKED = "This query has no visible key.";
export const BEFORE = "Before training", UNDER = "under 0.1%", OVER = "over 99.9%";
export const NO_NUMBER = "–";  // of a masked cell
export const OWN_MAXIMUM = ["0", "half", "head max"];
export const TIMES_UNIFORM =
  "Not percent, but multiples of the uniform weight. 1: all visible keys get the same; 10: ten times that.";
const ROOTS = { root: " (square root)", log: " (log)" };

/** @param {{ heads: number, queries: number, keys: number }} sizes */
export function gridLabel({ heads, queries, keys }) {
  const sizes = `${heads} heads, ${queries} queries by ${keys} keys`;
  return `Attention weights of ${sizes}. Arrow keys move, brackets change the head, Enter pins.`;
}

/**
 * Returns a head in words, as `format_head` in attention/number_format.py: Head 3, or Layer 5, head 3.
 * @param {{ per?: number }} data  `per`: heads per layer, if the grid shows several layers
 * @param {number} head
 */
export function headTitle({ per }, head) {
  return per ? `Layer ${Math.floor(head / per)}, head ${head % per}` : `Head ${head}`;
}

/**
 * Returns a head in words, also of those before training, which come after all others.
 * @param {{ per?: number, heads: number }} data
 * @param {number} head
 */
export function titleOf(data, head) {
  return `${headTitle(data, head % data.heads)}${head < data.heads ? "" : " before training"}`;
}

/** @param {number} layer */
export function layerTitle(layer) {
  return `Layer ${layer}`;
}

/** @param {number} step  of a training */
export function stepTitle(step) {
  return `After ${step.toLocaleString("en")} steps`;
}

/** @param {string} accuracy  a percentage */
export function correct(accuracy) {
  return `${accuracy} correct`;
}

/** @param {string} head */
export function weightOfHead(head) {
  return `weight of ${head.toLowerCase()}`;
}

/** @param {number} group  heads that share keys and values */
export function sharedHead(group) {
  return `kv ${group}`;
}

/** @param {string} most  the largest weight of a head, with its sign or ± */
export function upTo(most) {
  return `to ${most}`;
}

/**
 * Which tokens have labels, if not all have: every so many, by the rows and by the columns.
 * @param {number} down
 * @param {number} across
 */
export function labelled(down, across) {
  const every = (/** @type {number} */ step) => ["", "all", "every 2nd", "every 3rd"][step];
  if (down === across) return down > 1 ? every(down) : "";
  return `${every(down)}, ${every(across)}`;
}

/** @param {number} token  its position, as the label of an axis */
export function position(token) {
  return token.toLocaleString("en");
}

/**
 * @param {number} first
 * @param {number} last
 */
export function range(first, last) {
  return last > first ? `${position(first)}–${position(last)}` : position(first);
}

/**
 * A token in words, or the range of those of a cell: “boat” (17), 17, or 16 to 23.
 * @param {{ token: number, name: string | undefined, last: number }} token  `last`: the last one of a range
 */
export function tokenText({ token, name, last }) {
  if (last > token) return `${position(token)} to ${position(last)}`;
  return name === undefined ? position(token) : `“${name}” (${position(token)})`;
}

/**
 * A query and a key in words: “boat” (17), or query 17 without a text.
 * @param {{ query: string, key: string }} texts
 */
export function pairTexts({ query, key }) {
  return [query.startsWith("“") ? query : `query ${query}`, key.startsWith("“") ? key : `key ${key}`];
}

/**
 * @param {{ query: string, key: string, weight: string, other: string, count: number }} cell  `other`: the first of the other
 *   keys with the same weight, of which there are `count`
 */
export function equalText({ query, key, weight, other, count }) {
  return `${query} puts ${weight} each on ${key} and ${count > 1 ? `${count} others` : other}.`;
}

/**
 * A sentence about a cell that has not the largest weight of its row.
 * @param {string} said
 */
export function ofCell(said) {
  return `This cell: ${said}`;
}

/** @param {{ query: string, count: number, share: number }} row  `share`: the mean weight of its `count` visible keys */
export function evenText({ query, count, share }) {
  return `${query} gives each of its ${count} visible keys about ${(100 * share).toPrecision(2)}%.`;
}

/** @param {{ which: string, query: string, key: string, weight: string }} tile  a cell of several pairs of an unknown place */
export function tileText({ which, query, key, weight }) {
  const [queries, keys] = [query.replace("query", "queries"), key.replace("key", "keys")];
  return `${which} weight of ${queries} on ${keys}: ${weight}.`;
}

/** @param {Pair} pair */
export function cellText({ query, key, weight, masked, rest, sides, alone }) {
  if (sides && !masked) return `${query} to ${key}: ${weight}${alone && ` (masked in ${alone === "A" ? "B" : "A"})`}.`;
  if (masked) return `${key} is masked for ${query}.`;
  return rest === null ? `${query} weighs ${key} by ${weight}.` : `${query} puts ${weight} of its weight on ${key}.`;
}

/** @param {{ title: string, role: string, cell: string }} texts */
export function headAndCell({ title, role, cell }) {
  return `${title}${role && `, ${role}`}: ${cell}`;
}

/** @param {{ rest: string | null | undefined, sum: number }} row  `rest`: what the rest of the row goes to */
export function rowSum({ rest, sum }) {
  return rest === null ? ` · sum ${sum.toFixed(2)}` : ` · ${rest} ${(100 * Math.max(0, 1 - sum)).toFixed(1)}%`;
}

/**
 * What the number of a cell of several pairs is, and at which of them it was found, if that is known.
 * @param {{
 *   sampled: boolean, pool: string, several: boolean, queryCount: number, keyCount: number, at: [number, number] | null,
 *   ranges: [number, number][] | null, pair: string[] | null,
 * }} tile  `pair`: the query and the key of the number, of a tile whose ranges are shown above
 */
export function pooledText({ sampled, pool, several, queryCount, keyCount, at, ranges, pair }) {
  const which = pool !== "mean" ? "largest" : several ? "largest mean" : "mean";
  if (pair) return `${which} in this pixel: ${pair.join(" on ")}`;
  if (ranges && at) {
    const [queries, keys] = ranges.map(([first, last]) => range(first, last));
    return `${which} of queries ${queries} and keys ${keys}`;
  }
  const of = `${sampled ? "preview from one query per tile: " : ""}${which} of ${queryCount} × ${keyCount}`;
  return at ? `${of}, at query ${position(at[0])}, key ${position(at[1])}` : of;
}

/**
 * A cell for screen readers; `before` and `after` are the weights of both sides of a difference.
 * @param {{ title: string, pair: string[], weight: string, masked: boolean, even: string, blind: boolean,
 *   sides: { before: string, after: string } | null }} cell
 */
export function spokenCell({ title, pair, weight, masked, even, blind, sides }) {
  const both = sides ? `, A ${sides.before}, B ${sides.after}` : "", kind = sides ? "difference" : WEIGHT;
  const said = masked ? "masked" : `${kind} ${weight}${both}${even && `, ${even}`}`;
  return `${title}, ${pair.join(", ")}: ${said}${blind ? ", no visible key" : ""}`;
}

/**
 * What a row of bars shows: the weights of a query, or one number per tile of several tokens.
 * @param {{ first: number, last: number, query: string, tile: number, pool: string, sides: boolean }} row  `query`: its name
 */
export function rowName({ first, last, query, tile, pool, sides }) {
  if (tile === 1) return query.startsWith("“") ? `Row of ${query}` : `Query ${query}`;
  const queries = `${last > first ? "queries" : "query"} ${range(first, last)}`;
  return `Each bar: ${pool === "mean" ? "mean" : "largest"} ${sides ? "change" : "weight"} of ${queries} and ${tile} keys`;
}

/**
 * @param {{ weight: string, keys: string[], tile: number, all: boolean, even: boolean, sides: boolean }} row  `keys`: those that
 *   have this weight, which is "" if the readout has it; `even`: whether the others have nearly as much
 */
export function largest({ weight, keys, tile, all, even, sides }) {
  if (all && keys.length > 1) return `: all bars equal${weight && `, ${weight}`}`;
  if (even && !all) return ": all bars about equal";
  const what = sides ? "largest change" : "largest", most = weight ? `: ${what} ${weight},` : `: ${what} at`;
  const isNamed = keys.some((key) => key.startsWith("“"));
  if (keys.length > (isNamed ? 2 : 3)) return `${most} ${keys.length} ${tile > 1 ? "bars" : "keys"}`;
  if (isNamed) return `${most} ${keys.join(" and ")}`;
  return `${most} ${keys.length > 1 ? "keys" : "key"} ${keys.join(keys.length > 2 ? ", " : " and ")}`;
}

/** @param {{ head: string, query: number, shown: number, all: number }} table */
export function tableTitle({ head, query, shown, all }) {
  return `Row as table: ${head.toLowerCase()}, query ${query}${all > shown ? `, the first ${shown} of ${all}` : ""}`;
}

/** @param {{ colors: string, sides: boolean, shares: boolean }} scale  `shares`: whether weights are shares of a row */
export function scaleName({ colors, sides, shares }) {
  const root = ROOTS[/** @type {"root" | "log"} */ (colors)] ?? "";
  if (sides) return `${DIFFERENCE}, ${shares ? "points" : "from −1 to 1"}${root}`;
  if (colors === "times even") return "weight, × uniform";
  return colors === "linear" ? WEIGHT : `${WEIGHT} (${colors})`;
}

/** @param {boolean} sides  whether the numbers of a row are differences */
export function numberTitle(sides) {
  return sides ? DIFFERENCE : WEIGHT;
}

/** @param {string} scale */
export function scaleOfFile(scale) {
  return `${scale}, by query ↓ and key →`;
}
