// Adds the link to the address of a page that the menu opens. The menu opens a page with an empty link, which keeps the
// settings, and Streamlit then pushes the complete link as another entry of the history, so that Back would first lead to
// the empty one. With this script, the first entry is complete. If messages arrive close together, Streamlit also pushes
// the link of the new page with the path of the old one; that entry is no valid page to go back to and is dropped.

const APART = /\/(timing|training|model|examples|your_data|find_the_bug)$/;  // pages whose links have settings of their own
/** @type {Record<string, Record<string, string>>} */
const EXAMPLES = {  // what pages alone open with
  steps: {tokens: "4", heads: "2", d_model: "4", projections: "independent", seed: "6"},
  softmax: {head: "7", query: "12"},
};
const STEP = "step";  // Steps opens at one of its steps, whichever is shown later

if (!("linksCarried" in document.documentElement.dataset)) {
  document.documentElement.dataset.linksCarried = "";
  const push = history.pushState;
  /** @type {Record<string, string>} */
  const links = {};
  history.pushState = (state, unused, url) => {
    if (early(url, links)) return;
    if (sentOn()) history.replaceState(state, unused, carryLink(url, links));
    else push.call(history, state, unused, carryLink(url, links));
  };
}

const kind = (/** @type {string} */ path) => (path.endsWith("/") ? "start" : (APART.exec(path)?.[1] ?? "shared"));
const embedded = (/** @type {string} */ name) => name.startsWith("embed");  // Streamlit keeps these by itself
const empty = (/** @type {URL} */ there) => [...there.searchParams.keys()].every(embedded);

/** Returns the link of the current page for other pages: without an example of its own. */
function linkToCarry() {
  const here = new URL(location.href), page = here.pathname.split("/").pop() ?? "", example = EXAMPLES[page];
  const isThere = example && Object.entries(example).every(([name, value]) => here.searchParams.get(name) === value);
  if (!isThere) return here.search;
  for (const name of [...Object.keys(example), ...(page === "steps" ? [STEP] : [])]) here.searchParams.delete(name);
  return [...here.searchParams.keys()].every((name) => name === "v" || embedded(name)) ? "" : here.search;
}

/** Whether the current address is one at the root that is sent on to Heads: it is no page to go back to. */
function sentOn() {
  const here = new URL(location.href);
  return kind(here.pathname) === "start" && !empty(here) && !here.searchParams.has("start");
}

/**
 * Whether an address has the path of the current page and the link of a page of another kind.
 * @param {string | URL | null | undefined} url
 * @param {Record<string, string>} links
 */
function early(url, links) {
  const there = new URL(url ?? "", location.href), here = kind(location.pathname);
  if (there.pathname !== location.pathname || empty(there)) return false;
  return Object.entries(links).some(([other, link]) => other !== here && link === there.search);
}

/**
 * Returns the address of a page that is opened, with the last link of a page of its kind.
 * @param {string | URL | null | undefined} url
 * @param {Record<string, string>} links
 */
function carryLink(url, links) {
  const there = new URL(url ?? "", location.href);
  if (there.pathname === location.pathname) return url;
  links[kind(location.pathname)] = linkToCarry();
  return empty(there) ? there.pathname + (links[kind(there.pathname)] || there.search) : url;
}
