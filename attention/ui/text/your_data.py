"""The words of the Your data page."""

FINDING = "See every head of your own model: save its attention to a file, and open that file here."
OPEN = "{count} files are open. Choose one as *Source* on a page that has this setting."
OPENED = "Opened: {layers} of {heads}, {tokens}."
SEE_HEADS = "See its heads."
HEAD_DOES = "{head} {does}"
WITH_ROLE = "{head}: {role}"
HELP = "A file with weights, or with queries and keys. Only you see it: it is in no link, and it is deleted when your visit ends."
CLOSED = "Uploads are switched off on this server. On your own machine, this page opens files."
SHARED = "Numbers of 16 or 32 bits; up to 1,024 tokens as weights, up to 65,536 as queries and keys; 128 layers of 128 heads."
SAFE = "Code in a file is never run."
STEP = ":gray[{number} ·] {title}"
SAVE = "Save it from your model"
COPY = "Copy code"
UPLOAD = "Open the file"
ANOTHER = "Open another file"
SEE = "See its heads"
FILE = "Attention: .safetensors, .npz, .npy, .pt"
TOKENS = "Tokens, if not in it: .json or .txt"
TOKENS_HELP = "A JSON list of strings, or a text file with one token per line or with words."
SIZES = "Files of up to {largest} MB, unpacked up to {unpacked}. {fits} {shared}"  # in the help
FITS = "In 16 bits, this fits queries, keys and values of all layers for {models}."
FITS_MODEL = "{tokens:,} tokens of {model} ({weights:,} as weights alone)"
TRY = "Try it with an example"
TRY_HELP = "Opens a file with queries, keys and tokens of two layers, as if you had chosen it."
EXAMPLE = "Download the example"
EXAMPLE_HELP = "The same file, as a template."
MAP = "Map of weights: {head}"
MAPS = (
    "Rows are queries, columns keys; brighter is more weight, hatched is masked. With tokens and numbers: open a head."
)
PROBLEM = "{file} can't be shown. {problem}"
THIS_FILE = "This"
WAY_OUT = "The code under “Save it from your model” writes a file that opens here; its limits are in the help below the fields."
STAYS = "The previous file stays open."
READING = ":material/check_circle: **{name}** was read as follows. {what}"
CORRECT = "If this is wrong, correct it in the sidebar."
PARTS = "The file has several parts; choose one in the sidebar: {parts}."
FORGOTTEN = "The previous reading is shown. To read the file in another way, open it again: it was not kept, as memory is short."
CLOSED_FILE = "It was closed. Open it again to see it."
LINKS = {
    "heads": "See its heads → Heads",
    "softmax": "One row → Softmax",
    "steps": "Each matrix → Steps",
    "masks": "Visible keys → Masks",
    "layers": "Compare heads → Layers",
}
COMPARE = "Compare with {name}"
OPEN_FILES = "Open files"
TO_HEADS = "Heads"
CLOSE = "Close"
SUMMARY = "{name}: {parts}, {layers} of {heads}, {tokens}, {size}"
SUMMARY_VECTORS, SUMMARY_WEIGHTS = "queries and keys", "weights"
SUMMARY_LAYERS, SUMMARY_HEADS = ("1 layer", "{count} layers"), ("1 head", "{count} heads")
SUMMARY_TOKENS = "{tokens:,} tokens"
SUMMARY_CROSS = "{tokens:,} tokens that attend to {keys:,} others"
