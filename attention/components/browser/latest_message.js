// Shows the newest data only: while a component's script loads, Streamlit may call it for an older message after a newer
// one (seen in 1.67: two imports of one address may finish in any order). It then immediately calls the clean-up function
// that the call for the older message returned.

/**
 * The data of the calls per element, excluding calls that were cleaned up.
 * @type {WeakMap<Element, { data: any }[]>}
 */
const calls = new WeakMap();

/**
 * Shows data in an element. Returns a clean-up function, which shows the data of the call before again.
 * @template T
 * @param {Element} root
 * @param {T} data
 * @param {(data: T) => void} show
 */
export function newest(root, data, show) {
  const all = calls.get(root) ?? [], entry = { data };
  calls.set(root, all);
  all.push(entry);
  show(data);
  setTimeout(() => all.splice(0, all.length - 1));  // by then Streamlit has called every clean-up function that it calls
  return () => {
    const at = all.indexOf(entry), last = at === all.length - 1;
    if (at < 0) return;
    all.splice(at, 1);
    if (last && all.length) show(all[all.length - 1].data);
  };
}
