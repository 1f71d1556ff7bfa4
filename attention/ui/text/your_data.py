"""The words of the Your data page."""

FINDING = "Open attention of your own model: every page can show it."
OPEN = "{files} open; every page can show it as its *Source*."
HELP = "A file with weights, or with queries and keys. Only you see it: it is in no link, and it is deleted when your visit ends."
CLOSED = "Uploads are switched off on this server. On your own machine, this page opens files."
SHARED = (
    "Numbers of 16 or 32 bits; up to 1,024 tokens as weights, up to 65,536 as queries and keys; 128 layers of 128 heads. "
    "Code in a file is never run."
)
SAVE = "How to save attention of your model"
COPY = "Copy code"
