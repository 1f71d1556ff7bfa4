"""A control in a real Chromium, and the time from its key or click to the pixels that it changes, measured inside the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Browser, Page

# The frame after the change is the one that shows it; the event's own time stamp is when the browser got it.
WATCH = """([selector, attribute, event]) => {
    const found = () => {
        const at = document.querySelector(selector);
        return attribute ? at?.getAttribute(attribute) : at?.textContent;
    };
    const before = found();
    window.shown = new Promise((done, fail) => {
        let start;
        setTimeout(() => fail(new Error(`${selector} did not change within a minute`)), 60_000);
        addEventListener(event, (event) => (start = event.timeStamp), { capture: true, once: true });
        const observer = new MutationObserver(() => {
            if (start === undefined || [before, null, undefined].includes(found())) return;  // gone is not changed
            observer.disconnect();
            requestAnimationFrame(() => done(performance.now() - start));
        });
        observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    });
}"""

# A chart that is drawn as pixels changes nothing that an observer sees, so its canvas counts how often it is cleared.
COUNT = """{
    const { prototype } = CanvasRenderingContext2D, { clearRect } = prototype;
    prototype.clearRect = function (...box) {
        this.canvas.dataset.drawn = Number(this.canvas.dataset.drawn ?? 0) + 1;
        return clearRect.apply(this, box);
    };
}"""

# A page is at rest when its main thread comes back on time for a while: charts are drawn long after they arrive.
REST = """async () => {
    const pause = 25, late = 15, calm = 10, most = 120;
    for (let turn = 0, good = 0; turn < most && good < calm; turn++) {
        const due = performance.now() + pause;
        await new Promise((done) => setTimeout(done, pause));
        good = performance.now() - due < late ? good + 1 : 0;
    }
}"""


# The closed folds around a control: a control in there takes no focus.
CLOSED = "details:not([open]):has(.st-key-{key}) > summary"


@dataclass(frozen=True)
class Slider:
    """A slider of a page, and the element whose text, or attribute, changes with it."""

    page: Page
    key: str
    shows: str
    attribute: str = ""

    def seconds(self) -> float:
        """From one press of the right arrow key to the frame that shows the new value; then the page comes to rest."""
        self.page.bring_to_front()
        self.page.evaluate(REST)  # a window that comes to the front is drawn again, which is not the change's time
        self.page.locator(f".st-key-{self.key} input[type=range]").focus()
        return self.time_move(lambda: self.page.keyboard.press("ArrowRight"), "keydown")

    def time_move(self, move: Callable[[], None], event: str) -> float:
        """The same for a move of your own that the browser knows by this event."""
        self.page.evaluate(WATCH, [self.shows, self.attribute, event])
        move()
        milliseconds = self.page.evaluate("window.shown")
        self.rest()
        return milliseconds / 1000

    def rest(self) -> None:
        """Waits until the script has run to its end and the browser has had time to draw all of it."""
        self.page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
        self.page.evaluate(REST)


def open_slider(browser: Browser, url: str, key: str, shows: str, attribute: str = "") -> Slider:
    """A slider on a page in a window of its own, with the page's first pictures drawn."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(COUNT)
    page.goto(url)
    there = "([selector, name]) => (at => at && (!name || at.getAttribute(name)))(document.querySelector(selector))"
    page.wait_for_function(there, arg=[shows, attribute])
    for fold in page.locator(CLOSED.format(key=key)).all():
        fold.click()
    slider = Slider(page, key, shows, attribute)
    slider.rest()
    return slider
