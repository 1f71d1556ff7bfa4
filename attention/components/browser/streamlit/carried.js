// The menu opens a page with an empty link, which keeps what is set. Streamlit then puts the whole link beside it, as
// an entry of its own in the history, so that Back would first lead to the empty one. Here it is whole from the
// beginning.

const APART = /\/(timing|training|model|examples)$/;  // pages whose links say other things, each its own

if (!("linksCarried" in document.documentElement.dataset)) {
  document.documentElement.dataset.linksCarried = "";
  const push = history.pushState;
  /** @type {Record<string, string>} */
  const links = {};
  history.pushState = (state, unused, url) => push.call(history, state, unused, carried(url, links));
}

/**
 * The address of a page that is opened, with the link that was last left on a page of its kind.
 * @param {string | URL | null | undefined} url
 * @param {Record<string, string>} links
 */
function carried(url, links) {
  const there = new URL(url ?? "", location.href);
  const kind = (/** @type {string} */ path) => APART.exec(path)?.[1] ?? "shared";
  if (there.pathname === location.pathname) return url;
  links[kind(location.pathname)] = location.search;
  const own = (/** @type {string} */ name) => name.startsWith("embed");  // these Streamlit keeps itself
  const empty = [...there.searchParams.keys()].every(own);
  return empty ? there.pathname + (links[kind(there.pathname)] || there.search) : url;
}
