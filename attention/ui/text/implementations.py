"""The words of the page Implementations."""

FINDING = (
    "{wrong} of these {count} pieces of code {give} a wrong result without an error at these settings{raising}."
    "{unfit}{corrected}"
)
GIVES, GIVE = "gives", "give"
CORRECTED = {0: "", 1: " Corrected, one still does."}
CORRECTED_MORE = " Corrected, {count} still do."
RAISING = {0: "", 1: ", and one raises one"}
RAISING_MORE = ", and {count} raise one"
UNFIT = {0: "", 1: " One does not support these settings."}
UNFIT_MORE = " {count} do not support these settings."
ABOUT = (
    "Published code of attention, rewritten and run on the same weights and tokens as the reference, in float64: a difference "
    "is a mistake, not rounding."
)
FIRST_TOKENS = "Compared on the first {shown:,} of {tokens:,} tokens."
LEFT_OUT = "Not applied here, because no document supports them: {settings}."
SELF_ONLY = "This one is self-attention only: cross-attention keys and d_v are not applied."
WAITS = "Comparing all implementations …"
WHAT = "What it computes, and the lesson"
MORE = "More pictures: differences from the reference"
MORE_RIGHT = "Another picture: influence of tokens on outputs"
ALL_HEADS = "Weights of all heads"
DETAILS = "Code, shapes, costs and accepted inputs"

# The list of all implementations, and the selected one.
GROUPS = {
    "disagrees": "Wrong result, no error",
    "raises": "Raise an error",
    "unfit": "Not applicable here",
    "agrees": "Right",
}
HOW = (
    "From public notebooks, posts and issues, rewritten by us with their mistakes kept. Choose one to see its wrong code (−), "
    "the correction (+), and the effect on each token."
)
IN_MENU = "{mark} {name}: {gloss}"
MENU_MARKS = {"agrees": "✓", "disagrees": "✗", "raises": "!", "unfit": "–"}
TRY = "Settings to try:"
TRIED = "{label} · :small[{moved}]"
IN_USE = "in use"
MOVED = "{name} {old} → {new}"
MOVED_NAMES = {  # of the settings to try
    "batch": "sequences",
    "d_model": "d_model",
    "d_v": "d_v",
    "head": "selected head",
    "heads": "heads",
    "keys": "keys",
    "mask": "mask",
    "projections": "W_q and W_k",
    "tokens": "tokens",
}
RELATIVE = (
    "Relative error: norm of the difference from the reference, divided by the norm of the reference, over all sequences. "
    "Up to {within:.0e} counts as equal."
)
NAN_ROWS = "For fully masked queries the published code gives NaN, the reference zeros."
CORRECTED_ERRORS = (
    "All got the same weights and tokens. Corrected, they differ by at most {error}, which is rounding{raised}."
)
CORRECTED_EXACT = "All got the same weights and tokens; corrected, they are exact{raised}."
STILL_RAISES = "; {count} without a result: see its row"
GLOSS = ":small[{gloss}]"
GLOSS_NO_EFFECT = ":small[{gloss}: no effect here]"
VERDICTS = {
    "agrees": "right",
    "disagrees": "wrong",
    "unfit": "not applicable",
}  # of rows and inputs; others are shown as they are
CORRECTED_VERDICT = "corrected: {verdict}"
ERROR = "error"
STILL = ":small[corrected: {verdict}]"
RESULTS_RIGHT = ("Its output is right.", "Its weights are right.")
RESULTS_WRONG = ("Its output is off by {error} of its norm.", "Its weights are off by {error} of their norm.")
RESULTS_NAN = ("Its output contains NaN.", "Its weights contain NaN.")
RESULTS_SHAPE = ("Its output has another shape.", "Its weights have another shape.")
WRONG_ROWS = "{wrong} of {rows} tokens get a wrong output{silent}."
SILENT = ", and no error is raised"
NO_MASK = {  # of rows that ignore the setting
    "none": "The selected code has no mask. Other code uses the setting: {mask}.",
    "causal": "The selected code is always causal. Other code uses the setting: {mask}.",
    "window": "The selected code always has a causal window of four tokens. Other code uses the setting: {mask}.",
}
OWN_MASKS = {"none": "none", "causal": "always causal", "window": "causal, 4 tokens"}
OWN_SCALE = "none"
FEWER_HEADS = "*Heads*: the document uses {used} of the {heads}."
RESULT_EQUAL = (
    "Weights and output equal those of the reference: the largest difference is {largest}, which is rounding."
)
RESULT_SAME = "Weights and output equal those of the reference exactly."
NO_EFFECT = "At these settings this has no effect."
RESULT_RAISES = "It raises an error."
RESULT_STILL_RAISES = {1: "Even with another mistake fixed (named below), it stops with this error."}
RESULT_STILL_RAISES_MORE = "Even with {count} other mistakes fixed (named below), it stops with this error."
UNFIT_ROW = "Corrected or not, it raises an error: it does not support these settings. What it supports: {demand}"
SLIPS = {1: "It ran with another mistake fixed (named below), which keeps it from running."}
SLIPS_MORE = "It ran with {count} other mistakes fixed (named below), which keep it from running."
UNSCALED = "The selected code is defined without a scale, so the reference has none either. Other code uses the setting: {scale}."
OTHER_SHAPE = "other shape"
RAISES = "raises"
VERSIONS = {"corrected": "Corrected version.", "only": "Correct as published."}
RAISED_IN = "{error}  \nin `{function}`"
PADDED = "With several sequences, sequence i has its last i keys masked as padding, counted from 0."
MASKS = {
    "none": "Neither this code nor its reference has a mask.",
    "causal": "This code and its reference are always causal, regardless of the mask setting.",
    "window": "This code and its reference have a causal window of four tokens, regardless of the mask setting.",
    "added": "The mask is added to the scores: zero, or minus infinity for masked keys. {padded}",
    "boolean": "The mask is boolean: 0 means masked. {padded}",
}
FROM = {  # by version: the code that is shown is not a copy
    "published": "Rewritten by us from {document}, with its mistake kept.{fixed}",
    "corrected": "Rewritten by us from {document}, and corrected.",
    "only": "Rewritten by us from {document}.",
}
FIXED_FIRST = " Fixed first: {slips}"
ABOUT_ROW = "{particular} {mask}"
COMPARED = "Compared with the reference"
COMPARED_VERSIONS = {"corrected": "Corrected", "published": "Published", "only": "Published (correct)"}
COMPARED_PARTS = ("Output", "Weights")
MAX_ERROR = "{part}: max error"
RELATIVE_ERROR = "{part}: relative error"

# The pictures.
GRID = "weights of this version{first}"
HEAD = ", head {head}{first}"
FIRST = ", first of {batch} sequences"
REFERENCE = "Weights of the reference{where}{scaled}"
CORRECT = "Correct"
VERSION_TITLES = {
    "published": "With the mistake",
    "corrected": "Corrected",
    "only": "As published",
}  # of the map beside it
MAP_ALT = "Map by row and column. {title}."
SEE_WEIGHTS = "**The weights of {wrong} of {rows} tokens differ.**"
SEE_SAME = "**With the mistake, every token has the same row of weights.**"
SEE_MASKED = "**Framed: {masked} of {count} cells have weight although masked{later}.**"
LATER = ", all on later tokens"
SEE_OTHER_HEAD = "The weights of head {head} are correct; those of another head differ."
SEE_SHAPES = "Compare row by row."
SEE_EQUAL = "Both maps show the same weights."
SEE_LEAKS = "**Orange: {leaks} of the {masked} cells that the mask hides.**"
SEE_CHANGES = "**Compare row by row.**"
SEE_EQUAL_CHANGES = "Both maps are the same."
LEGEND = {  # right at the maps
    "weights": "more weight",
    "influence": "changes the output",
    "leaks": "changes it although masked",
}
LEGEND_NONE = {"weights": "no weight", "influence": "no change"}
WEIGHTS_NOTE = "Each row is a token; its cells are its weights on the tokens of the columns. Shown: head {head}{first}."
INFLUENCE_NOTE = (
    "Each row is the output of a token{first}; a cell has a colour if replacing the token of its column changes it."
)
ONE_SCALE = "Both maps have one scale."
UNIFORM = ", × uniform"
OWN = "Weights of this code{where}: {wrong}"
DIFFERENCE = "Weights minus reference{where}: {wrong}"
DIFFERENCE_HELP = "Zero is close to the page background."
NO_DIFFERENCE = "No visible difference of the weights: at most {largest:.1g}, which is rounding."
NO_DIFFERENCE_AT_ALL = "The weights equal those of the reference exactly."
RAISES_WEIGHTS = "An error is raised before the weights are returned."
RAISES_OUTPUT = "An error is raised before the output is returned."
OUTPUT_SHAPE = "The output has another shape."
OUTPUT = "Output minus reference{first}: {wrong}"
ROWS_APART = "{wrong} of {rows} rows are wrong"
RAISED = "not returned"
OUTPUT_HELP = (
    "Rows are queries, columns are channels. The scale ends at the largest value of the reference output, so full colour is "
    "an error as large as that value."
)
VECTOR = "One vector of weights for all queries{where}"
INFLUENCE = "Influence of tokens on outputs{cut}{leaks}"
LEAKS = ": {leaks} of {masked} masked pairs leak"
INFLUENCE_CUT = "; the first {outputs} outputs and {tokens} tokens"
INFLUENCE_HELP = (
    "First sequence: change of each output when one token is replaced, relative to the mean output norm. Grey: exactly zero. "
    "Under a causal mask, colour above the diagonal is a leak."
)
ONE_OUTPUT = "The code returns one output for all tokens."
ALTS = {
    "reference": "Heatmap by query and key: weights of the reference",
    "own": "Heatmap by query and key: weights of this version",
    "difference": "Heatmap by query and key: weights, difference from reference",
    "vector": "Heatmap by key: the one row of weights for all queries",
    "output": "Heatmap by query and channel: output, difference from reference",
    "influence": "Heatmap by output and token: influence of each token on each output",
}

# The details.
CODE = "Code that runs"
FIXED = "Fixed here: {what} {error}"
SHAPES = "Shapes, line by line"
SHAPES_COLUMNS = ("Variable", "Axes", "Sizes", "Function", "Line")
COSTS = "**Costs** of {sequences} of {tokens}"
SEQUENCES, TOKENS = ("{count:,} sequence", "{count:,} sequences"), ("{count:,} token", "{count:,} tokens")
MEASURE = "Measure time"
MEASURE_HELP = (
    "Times the code in turns with the reference on this server, in float64: median, and quartiles of the ratio."
)
PARAMETERS, FLOPS, MEMORY, LEAK = "Parameters", "FLOPs", "Peak memory", "Leak of the last token"
TIME, RATIO = "Time", "Time / reference time"
UNTIL_RAISES = " until it raises"
NONE_RAISES = "none: it raises"
NOT_MASKED = "not masked"
NO_LEAK = "none"
LEAK_UP_TO = "up to {leak:.2g}"
MEASURING_OFF = "measuring is off on this server"
NOT_MEASURED = "not measured yet: switch on “Measure time”"
TIMES = "{time:.2f} ms (reference: {reference:.2f} ms)"
RATIOS = "{ratio:.2f} ({low:.2f} to {high:.2f})"
COSTS_NOTE = (
    "Leak: largest change of outputs that must not depend on the last token, when that token is replaced. FLOPs count matrix "
    "products; peak memory counts new tensors alive at once."
)
INPUTS = "**Supported inputs, found by testing.** {inputs}"
INPUTS_NOTE = (
    "Unless stated otherwise, tested on {batch} sequences of {tokens} tokens, {channels} channels and {heads} heads. "
    "“wrong” means that nothing is raised, but the result differs from the reference."
)
INPUTS_COLUMNS = ("Input", "Outcome", "Error")
EVIDENCE = "**{title}**"
EVIDENCE_ALT = "Line chart: {title}, {y} by {x}"
EVIDENCE_NOTE = (
    "{setting} From width {half:g} on, “{series}” puts more than half of a row on one key, on average.{here}"
)
EVIDENCE_HERE = " With the weights of the settings, shown above, the largest is {weight}."
REFUSED = "Implementations: published ways to write attention"
SMALLER = "Compare at {channels:,} channels"
