"""The menu: the groups of pages, in their order.

A page is named by its file; `page_title` and `page_group` say it in words. To add a page to the menu, add its name to a group.
"""

from __future__ import annotations

FIRST = "start"  # the page at the root
GROUPS: dict[str, tuple[str, ...]] = {
    "": (FIRST,),
    "Learn": ("heads", "steps", "softmax", "masks", "training", "examples"),
    "Explore": ("layers", "model", "your_data"),
    "Measure": ("timing", "implementations", "find_the_bug"),
}


def page_title(page: str) -> str:
    """The title of a page, as the menu shows it."""
    return page.replace("_", " ").capitalize()


def page_group(page: str) -> str:
    """The group of a page; "" for the first page."""
    return next((group for group, pages in GROUPS.items() if page in pages), "")
