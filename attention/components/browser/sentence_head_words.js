// The words of one head over a sentence.

export const MARKUP = `
<div class="chips" role="group" aria-label="Tokens. Choose the one whose weights are shown."></div>
<div class="map" role="img"><canvas></canvas><i class="row"></i><i class="cell"></i></div>
<p class="said" aria-live="polite"></p>
<p class="scale" aria-hidden="true">weight 0% <i class="ramp"></i> 100% <i class="swatch"></i> masked</p>`;

/** @param {{ rows: number, columns: number, said: string }} map */
export function mapLabel({ rows, columns, said }) {
  return `Heat map of ${rows} by ${columns} weights. ${said}`;
}

/** @param {{ query: string, key: string, weight: number, masked: boolean }} pair */
export function pairText({ query, key, weight, masked }) {
  if (masked) return `“${key}” is masked for “${query}”.`;
  return `“${query}” gives ${percent(weight)} of its weight to “${key}”.`;
}

/** @param {number} weight */
export function percent(weight) {
  return `${(100 * weight).toFixed(1)}%`;
}
