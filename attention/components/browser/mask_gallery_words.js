// The words of the gallery of masks.

export const MARKUP = `
<p class="legend"><span class="hint" role="status"></span>
<span class="how" role="group" aria-label="How a click combines two masks"></span><span>Filled: kept.</span></p>
<ul aria-label="Masks">
  <li class="room">A combination of two masks is shown here.</li>
</ul>`;

/** @param {{ how: string, joins: boolean }} click  how a click combines the mask with that in use, and whether it can */
export function clickHint({ how, joins }) {
  return how ? "Now click the second mask:" : joins ? "Click a mask to use it, or combine two:" : "";
}

/** @param {{ name: string, single: boolean, how: string }} card  a mask, or a combination, which can't be chosen */
export function cardLabel({ name, single, how }) {
  if (!single) return name;
  return how ? `${how} ${name}` : `Use this mask: ${name}`;
}
