"""The words with which a link is shared: descriptions of pages, pictures of links, the Share dialog."""

NAME = "Attention Lab"
ABOUT = "See how attention in transformers works, head by head: exact weights, every step, real models. Free, in the browser."
PAGES = {
    "start": "What attention does to a word, shown with one head of a real model.",
    "heads": "The attention weights of every head, token by token: change the mask, the scale or the text and see what happens.",
    "steps": "Attention matrix by matrix, from the input to the output, with every number and its formula.",
    "softmax": "How scores become attention weights: one row of the softmax, step by step.",
    "masks": "Causal, window and other attention masks: which keys each query may attend to, and what that changes.",
    "training": "Watch the heads of a small transformer form while it trains, and stop at any step.",
    "examples": "Prepared pictures of attention, each with a sentence and a question for a class.",
    "layers": "The heads of all layers of a model, compared by what they attend to.",
    "model": "Run a language or vision model on your own input, and see what each of its heads attends to.",
    "your_data": "Open the attention weights of your own model, head by head.",
    "timing": "What attention costs on a CPU and a GPU, measured, with its spread.",
    "implementations": "Published implementations of attention, compared with the reference, line by line.",
    "find_the_bug": "Find the mistake in published code of attention, from its maps and its lines.",
}
PREDICT = "Predict first"
QUESTION = "A question about attention, with its answer hidden until it is revealed."
HEAD = "{head} (of {heads})"
LAYER_HEAD = "Layer {layer}, head {head} (of {heads})"
SEQUENCE = "{mask} mask, {tokens} tokens"
FIRST = "{mask} mask, the first {shown} of {tokens} tokens"
SOME_MODEL = "A model"
ON_TEXT = "A run on “{text}”"
ROW = "{query} attends to"
KEY = "{key}: {weight}"
DIFFERENCE = "B − A: {head} (of {heads})"
DIFFERS = "{label}: {a} in A, {b} in B"
MASK, SPAN = "{name} mask{span}", ", span {span}"
PAIRS = "{pairs} of {whole} pairs are visible ({share})"
TRAINED_HEAD = "{head}, trained on: {task}"
TRAINING = "Step {step} of {steps}: {accuracy} of the answers are right, loss {loss}"
VERDICTS = {True: "As published: {verdict} with the reference", False: "Corrected: {verdict} with the reference"}
BUG = "Find the bug: {number} of {count}"
SHARE = "Share"
LINK = "**Link**"
LINK_SHORT = "{characters} characters: short enough for any program. It opens what you see, without an account."
LINK_LONG = (
    "{characters} characters: some programs cut links over 2,000. Your own text, a question and a comparison are part of "
    "the link; shorten them to shorten it."
)
QR_CODE = "For a projector: a phone's camera opens the link. A printed page has it, too."
QR_CODE_ALT = "QR code of the link"
QR_CODE_LONG = "The link is too long for a QR code that a phone could read."
PREVIEW = "**In a chat**"
PREVIEW_ALT = "Picture that a chat shows of this link"
PREVIEW_HELP = "What a chat shows when you paste the link. Click it to save it (PNG, 1200 × 630)."
FILES = "**Files**"
HEAD_FILE = "Selected head"
GRID_FILE = "All heads"
CHART_FILE = "Chart"
HEADS, LAYER_HEADS = "{heads} heads", "Layer {layer}, {heads} heads"
OTHER_FILES = {
    "": "Other pictures that can be saved have their own buttons on the page.",
    "heads": "The words with lines and the statistics have their own buttons on the page; tensors are under Downloads.",
    "model": "The leak test can be saved as one HTML file, which opens without a server.",
}
PDF = (
    "For a PDF, print the page (Ctrl+P or ⌘P): controls are left out, pictures and tables are kept whole, and an answer that "
    "was revealed comes last, on a page of its own."
)
EMBED = "**Embed**"
NO_EMBED = "This page has no picture of its own. Open one, and share it from there."
SITE = "Page that will embed it"
SITE_HELP = "Checks whether the owner of this server lets that page show it in a frame."
SITE_ALLOWED = "This page may embed it."
SITE_REFUSED = (
    "{origin} may not embed pages of this server. Its owner can allow it by a setting. Until then, paste the link."
)
FRAMES_SELF = (
    "Only pages of this server may embed it. Its owner can allow others, for example by "
    "ATTENTION_FRAMES=self,https://school.example."
)
FRAMES_NONE = "No page may embed it: the owner of this server has switched that off."
FRAMES_SOME = "Pages of {sites} may embed it."
OPEN_IN_LAB = "Open in Attention Lab"
PRESENT = "Present"
PRESENT_HELP = (
    "The selected head fills the screen, beside its question. Arrow keys change the head, space reveals, Esc leaves."
)
LEAVE = "Leave"
REVEAL, HIDE = "Reveal answer", "Hide answer"
GUESS = "**{letter}**  {guess}"
RIGHT_GUESS = ":green[:material/check_circle: {guess}]"
OPEN_QUESTION = "This is an open question without a given answer."
