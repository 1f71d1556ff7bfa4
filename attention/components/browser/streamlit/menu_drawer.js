// Shuts the drawer of the menu once a page was chosen in it, on a phone: it would cover that page, as Streamlit leaves it open.

import { target } from "../elements.js";

const LINK = '[data-testid="stSidebarNavLink"]', SHUT = '[data-testid="stSidebarCollapseButton"] button';
const NARROW = "(max-width: 768px)";

if (!("drawerShuts" in document.documentElement.dataset)) {
  document.documentElement.dataset.drawerShuts = "";
  addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !target(event, LINK) || !matchMedia(NARROW).matches) return;
    /** @type {HTMLElement | null} */ (document.querySelector(SHUT))?.click();
  });
}
