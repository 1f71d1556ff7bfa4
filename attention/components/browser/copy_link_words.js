// The words of a button that copies a link.

export const MARKUP = `
<button type="button"></button><span aria-live="polite"></span>
<input type="text" readonly hidden aria-label="Link to what is on the screen">`;

export const COPIED = "Copied", SELECTED = "Select and copy it from here";
export const OLD = "Copied without your last change, which is still being applied: copy again";

/** @param {number} characters */
export function longLink(characters) {
  return `Copied, but it has ${characters.toLocaleString("en")} characters: some programs cut links so long`;
}
