"""Colours on a page, as an eye has them (WCAG 2.2)."""

from __future__ import annotations

LUMINANCE = """
    const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
"""

LIGHTNESS = f"""([selector, property]) => {{{LUMINANCE}
    const pen = document.createElement("canvas").getContext("2d");
    pen.fillStyle = getComputedStyle(document.querySelector(selector))[property];
    return luminance([1, 3, 5].map((at) => parseInt(pen.fillStyle.slice(at, at + 2), 16)));
}}"""


# What is written on the page in less than 4.5 to 1, or in 3 to 1 where it is large or a mark of a chart; what can't be used
# now may be faint.
FAINT = (
    "(ignored) => {"
    + LUMINANCE
    + """
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const over = (ground, color, opacity = 1) => {
        pen.globalAlpha = 1;
        pen.fillStyle = `rgb(${ground})`;
        pen.fillRect(0, 0, 1, 1);
        pen.globalAlpha = opacity;
        pen.fillStyle = color;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const up = (element) => { const all = []; for (let at = element; at; at = at.parentElement) all.unshift(at); return all; };
    const under = (element, box) => {  // the marks of a chart that its words are written on, each over the one before
        const x = box.x + box.width / 2, y = box.y + box.height / 2;
        const on = ({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom;
        const shapes = element.ownerSVGElement?.querySelectorAll(".mark-rect path") ?? [];
        return [...shapes].filter((shape) => on(shape.getBoundingClientRect()));
    };
    const cell = (picture, box) => {  // the colour of a matrix's cell, near its corner: the canvas below its number
        const canvas = picture.querySelector("canvas"), whole = canvas.getBoundingClientRect();
        const x = (box.left + 3 - whole.left) * canvas.width / whole.width;
        const y = (box.top + 3 - whole.top) * canvas.height / whole.height;
        pen.globalAlpha = 1;
        pen.drawImage(canvas, x, y, 1, 1, 0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        const element = node.parentElement, style = getComputedStyle(element), box = element.getBoundingClientRect();
        const idle = element.closest(`:disabled, [aria-disabled=true], [data-disabled], .katex, style, script, noscript,
            [data-testid^=stSliderT], :is(.stSlider, .stTextInput):has(:disabled)`);
        if (ignored && element.closest(ignored)) continue;
        if (element instanceof SVGElement && "●■◆▲★–".includes(node.data.trim())) continue;  // a sample of the line that is named
        if (!node.data.trim() || idle || Math.min(box.width, box.height) < 2) continue;
        if (!element.checkVisibility({ visibilityProperty: true })) continue;
        let ground = [255, 255, 255], opacity = 1;
        for (const at of up(element)) {
            const { backgroundColor, opacity: own } = getComputedStyle(at);
            opacity *= own;
            ground = over(ground, backgroundColor);
        }
        if (element.parentElement.matches(".numbers")) ground = cell(element.parentElement.parentElement, box);
        for (const { fill, fillOpacity } of under(element, box).map((shape) => getComputedStyle(shape)))
            ground = over(ground, fill, fillOpacity);
        const ink = element instanceof SVGElement ? style.fill : style.color;
        const lights = [ground, over(ground, ink, opacity)].map((color) => luminance(color) + 0.05).sort((a, b) => a - b);
        const mark = element.role === "graphics-symbol" || (element instanceof SVGElement && node.data.trim() === "×");
        const large = parseFloat(style.fontSize) >= 24 || mark;  // a mark of a chart is no word (WCAG 2.2, 1.4.11)
        const contrast = lights[1] / lights[0];
        if (opacity && contrast < (large ? 3 : 4.5)) found.push(`${node.data.trim().slice(0, 30)}: ${contrast.toFixed(2)}`);
    }
    return found;
}"""
)


def assert_readable(tab, ignored: str = "") -> None:
    """Nothing on the page is faint, but for `ignored` elements, once what comes and goes has stopped fading."""
    for _ in range(20):
        found = tab.page.evaluate(FAINT, ignored)
        if not found:
            break
        tab.page.wait_for_timeout(250)
    assert not found, f"{tab.page.url}: {found}"


def lightness(page, selector: str, property: str) -> float:
    """Relative luminance of a colour on the page (WCAG 2.2), 0 to 1."""
    return page.evaluate(LIGHTNESS, [selector, property])


def contrast(page, selector: str) -> float:
    """Contrast of a text with the page behind it (WCAG 2.2), 1 to 21."""
    found = lightness(page, selector, "color"), lightness(page, ".stApp", "backgroundColor")
    return (max(found) + 0.05) / (min(found) + 0.05)
