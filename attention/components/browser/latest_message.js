// The newest data wins: while a component's script loads, Streamlit may call it for an older message after a newer
// one (seen in 1.67: two imports of one address end in any order). It takes an old call back at once, by what that
// returned.

/**
 * Each element with the data of its calls that nobody took back.
 * @type {WeakMap<Element, { data: any }[]>}
 */
const calls = new WeakMap();

/**
 * Shows data in an element; returns what takes them back, so that those of the call before are shown again.
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
  setTimeout(() => all.splice(0, all.length - 1));  // by then all is taken back that will be
  return () => {
    const at = all.indexOf(entry), last = at === all.length - 1;
    if (at < 0) return;
    all.splice(at, 1);
    if (last && all.length) show(all[all.length - 1].data);
  };
}
