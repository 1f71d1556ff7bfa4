// The words of the gallery of masks.

export const MARKUP = `
<p class="legend"><span class="how" role="group" aria-label="What a click on a mask does"></span>
<span>Filled: kept, hatched: masked.</span></p>
<ul aria-label="Masks">
  <li class="room">To combine two masks, choose “and”, “or” or “without” above, then the second one.</li>
</ul>`;

export const USE = "Click to use";

/** @param {{ name: string, single: boolean, how: string }} card  a mask, or a combination, which can't be chosen */
export function cardLabel({ name, single, how }) {
  if (!single) return name;
  return how ? `${how} ${name}` : `Use this mask: ${name}`;
}
