// The words of the gallery of masks.

export const MARKUP = `
<p class="legend"><span class="hint" role="status"></span>
<span class="how" role="group" aria-label="How a click combines two masks"></span>
<span>Solid: pairs kept<i>, and their share</i>.</span></p>
<ul aria-label="Masks">
  <li class="room"></li>
</ul>`;

/** @type {Record<string, string>} */
const JOINS = {
  and: "Keeps pairs that both keep.", or: "Keeps pairs that either keeps.", without: "Takes the pairs of the second away.",
};

/**
 * @param {{ how: string, joins: boolean, used: string, first: string }} click  how a click combines the mask with the `first`
 * one, whether it can, and the combination in use that was made so
 */
export function clickHint({ how, joins, used, first }) {
  if (used) return `In use: ${used}`;
  if (how) return `${JOINS[how]} Now click the second mask.`;
  return joins ? `Click a mask, or combine ${first} with another:` : "";
}

/** @param {string} how  of combining two masks */
export function joinTitle(how) {
  return JOINS[how];
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
