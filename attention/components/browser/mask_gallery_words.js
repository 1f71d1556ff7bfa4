// The words of the gallery of masks.

export const MARKUP = `
<ul aria-label="Masks">
  <li class="room">Combine cards with “and”, “or” or “without”.</li>
</ul>`;

/** @param {{ name: string, single: boolean }} card  a mask, or a combination, which can't be chosen */
export function cardLabel({ name, single }) {
  return single ? `Use this mask: ${name}` : name;
}
