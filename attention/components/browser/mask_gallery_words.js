// The words of the gallery of masks.

export const MARKUP = `
<p class="legend">Masks: click one to use it. Filled: kept, hatched: masked.</p>
<ul aria-label="Masks">
  <li class="room">Point at a card to combine it: “and”, “or”, “without”.</li>
</ul>`;

/** @param {{ name: string, single: boolean }} card  a mask, or a combination, which can't be chosen */
export function cardLabel({ name, single }) {
  return single ? `Use this mask: ${name}` : name;
}
