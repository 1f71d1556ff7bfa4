// The keys of a presentation: arrows change the head, space reveals the answer, Esc leaves. It listens to the page for as long
// as it is mounted.

const MOVES = new Map([["ArrowRight", 1], ["ArrowDown", 1], ["PageDown", 1], ["ArrowLeft", -1], ["ArrowUp", -1], ["PageUp", -1]]);

/** @param {import("./mount.js").Call} call */
export default function ({ data, setTriggerValue }) {
  if (!data) return undefined;
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    const by = MOVES.get(event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || !(by || event.key === "Escape" || event.key === " ")) return;
    event.preventDefault();
    if (by) setTriggerValue("move", { by });
    else if (event.key === " ") setTriggerValue("reveal", true);
    else setTriggerValue("leave", true);
  };
  document.addEventListener("keydown", press);
  return () => document.removeEventListener("keydown", press);
}
