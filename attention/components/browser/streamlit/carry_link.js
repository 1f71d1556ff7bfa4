// The menu opens a page with an empty link, which keeps what is set. Streamlit then puts the whole link beside it, as
// an entry of its own in the history, so that Back would first lead to the empty one. Here it is whole from the
// beginning. Where messages come close together, Streamlit puts the link of the page that is opened beside the path of
// the one that is left first: that is no place to go back to, and enters nothing.

const APART = /\/(timing|training|model|examples|your_data)$/;  // pages whose links say other things, each its own

if (!("linksCarried" in document.documentElement.dataset)) {
  document.documentElement.dataset.linksCarried = "";
  const push = history.pushState;
  /** @type {Record<string, string>} */
  const links = {};
  history.pushState = (state, unused, url) => {
    if (!early(url, links)) push.call(history, state, unused, carryLink(url, links));
  };
}

const kind = (/** @type {string} */ path) => APART.exec(path)?.[1] ?? "shared";
const embedded = (/** @type {string} */ name) => name.startsWith("embed");  // these Streamlit keeps itself
const empty = (/** @type {URL} */ there) => [...there.searchParams.keys()].every(embedded);

/**
 * Is it the link of a page of another kind, beside the path of this one?
 * @param {string | URL | null | undefined} url
 * @param {Record<string, string>} links
 */
function early(url, links) {
  const there = new URL(url ?? "", location.href), here = kind(location.pathname);
  if (there.pathname !== location.pathname || empty(there)) return false;
  return Object.entries(links).some(([other, link]) => other !== here && link === there.search);
}

/**
 * The address of a page that is opened, with the link that was last left on a page of its kind.
 * @param {string | URL | null | undefined} url
 * @param {Record<string, string>} links
 */
function carryLink(url, links) {
  const there = new URL(url ?? "", location.href);
  if (there.pathname === location.pathname) return url;
  links[kind(location.pathname)] = location.search;
  return empty(there) ? there.pathname + (links[kind(there.pathname)] || there.search) : url;
}
