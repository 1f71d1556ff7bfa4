"""The words of the leak test on the Model page."""

TITLE = "Does it see later tokens?"
ABOUT = (
    "A causal model must not change an output when a later token changes. The test replaces every token by two others in turn "
    "and compares all outputs before it. It also computes the outputs with another kernel, with a cache and with left padding."
)
START = "Test for leaks"
START_HELP = "Runs the model about twice per token of the text, up to 128 tokens."
PROGRESS = "Replacing tokens in {model}."
STOPPED = "Stopped before it was done."
PASSED = "**No leak.** {summary}"
FAILED = "**It leaks.** {summary}"
BIDIRECTIONAL = (
    "**{model} is not causal, by design.** Like other encoders, it has no causal mask: an output may change with later tokens, "
    "and it does for {pairs:,} of {every:,} pairs."
)
DIFFERS = "**No leak, but the outputs depend on how they are computed.** {summary}"
PICTURE = (
    "Rows: outputs. Columns: replaced tokens. Blue: the output changes, stronger for larger changes. Red: it changes with a "
    "later token. Grey: later tokens without an effect."
)
PICTURE_BIDIRECTIONAL = (
    "Rows: outputs. Columns: replaced tokens. Blue: the output changes, stronger for larger changes."
)
HIDDEN = "Outputs are the last hidden states."
SAVE = "Save as HTML"
CANCEL_HELP = "It stops if no one views this page for {seconds:g} seconds."
