// The words of the heads of several layers.

export const MARKUP = `
<p class="title"></p>
<p class="what"></p>
<div class="choices">
  <label class="of-part">Part <select class="parts"></select></label>
  <span class="of-layer">
    <label>Layer <select class="layers"></select></label>
    <button type="button" class="before" aria-label="Previous layer">‹</button>
    <button type="button" class="after" aria-label="Next layer">›</button>
  </span>
  <label>Colours <select class="colors">
    <option value="">automatic</option>
    <option value="linear">linear</option>
    <option value="log">log</option>
    <option value="times even">× uniform weight</option>
    <option value="own maximum">per-head maximum</option>
  </select></label>
</div>
<div class="grid"></div>
<p class="row-title"></p>
<div class="words-of-row"></div>
<p class="layers-note"></p>`;

/** @param {{ head: number, query: number }} row */
export function rowTitle({ head, query }) {
  return `Head ${head}, query ${query}: attended tokens`;
}
