// The words of a row times the values.

export const MARKUP = `
<p class="said"></p>
<table>
  <colgroup><col class="who"><col class="weight"><col><col class="number"><col><col class="number"></colgroup>
  <thead><tr>
    <th scope="col">key</th><th scope="col">weight</th><th scope="col" colspan="2" class="of-values"></th>
    <th scope="col" colspan="2" class="of-products"></th>
  </tr></thead>
  <tbody></tbody>
</table>
<label class="channel"><span></span><input type="range" min="0" step="1"></label>
<p class="hint">
  <i class="less"></i>below 0 <i class="more"></i>above 0, in full colour at the ± of the column title.
  Point at a channel for its values.
</p>`;

export const OUTPUT = "output", SUM = "sum of all rows", GATE = "× gate", GATED = "= gated";
export const ONE_GATE = "one for all channels", GATES = "one per channel", HANDED_ON = "what the head hands on";

/** @param {string} end */
export function valuesTitle(end) {
  return `× value, to ±${end}`;
}

/** @param {string} end */
export function productsTitle(end) {
  return `= product, to ±${end}`;
}

/** @param {{ channel: number, channels: number }} place */
export function channelText({ channel, channels }) {
  return `channel ${channel} of ${channels}`;
}

/**
 * The output of a head, and its value in one channel; `gate`: that of the channel with the value times it, null without one.
 * @param {{ head: number, query: string, blind: boolean, channel: number, value: string, gate: [string, string] | null }} output
 */
export function outputText({ head, query, blind, channel, value, gate }) {
  const how = blind ? "zero in each channel, as it has no visible key" : "in each channel, the sum of weights times values";
  const gated = gate ? `, times its gate ${gate[0]}: ${gate[1]}` : "";
  return `Output of head ${head} for ${query}: ${how}. In channel ${channel} it is ${value}${gated}.`;
}
