// The words of the gallery of masks.

export const MARKUP = `
<p class="legend"><span class="hint" role="status"></span>
<span class="how" role="group" aria-label="How a click combines two masks"></span><span>Filled: kept.</span></p>
<ul aria-label="Masks">
  <li class="room"></li>
</ul>`;

/**
 * @param {{ how: string, joins: boolean, used: string }} click  how a click combines the mask with the first one, whether it can,
 * and the combination in use that was made so
 */
export function clickHint({ how, joins, used }) {
  if (used) return `In use: ${used}`;
  return how ? "Now click the second mask" : joins ? "Click a mask to use it, or combine two:" : "";
}

/** @param {{ first: string, how: string }} click  what the place of a combination says before its second mask is clicked */
export function roomText({ first, how }) {
  return `${first} ${how} …`;
}

/** @param {{ name: string, single: boolean, how: string }} card  a mask, or a combination, which can't be chosen */
export function cardLabel({ name, single, how }) {
  if (!single) return name;
  return how ? `${how} ${name}` : `Use this mask: ${name}`;
}
