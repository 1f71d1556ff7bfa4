"""The words of the Steps page."""

STEP = "**{step}**: {lesson}"
ROLES = {"q": "query: what it searches for", "k": "key: what it is found by", "v": "value: what it passes on"}
TOKENS = "Each of the {rows} tokens is a vector of **{columns}** numbers. It becomes a query, a key and a value."
SIZES = {  # of steps that are about the shape of a matrix
    "x": "Each of the {rows} tokens is a row of **{columns}** numbers, its vector in x.",
    "W_q": "W_q has **{rows} × {columns}** numbers that turn each token into its query: what it searches for.",
    "W_k": "W_k has **{rows} × {columns}** numbers that turn each token into its key: what it is found by.",
    "W_v": "W_v has **{rows} × {columns}** numbers that turn each token into its value: what it passes on.",
    "joined": "{heads} heads of width {width}, side by side, give each token **{columns}** numbers.",
    "W_o": "W_o has **{rows} × {columns}** numbers that mix the outputs of the heads.",
}
SPLIT = "Of the {whole} columns of {of}, head {head} takes **{columns}** as its {words}."
VECTORS = {"q": "queries", "k": "keys", "v": "values"}
COLUMNS = "column {first}", "columns {first} to {last}"
LOGITS = "**{masked}** of {whole} scores become −∞, so that the softmax gives these masked pairs no weight."
LOGITS_ALL = "No pair is masked, so all **{whole}** scores stay as they are."
CELLS = {  # of steps that are about a cell, or the row of a query
    "Q": "Row {token} of {source} times column {column} of {matrix}, added up, gives **{value}** in its {words}.",
    **dict.fromkeys(
        "KV",
        "Row {token} of {source} times column {column} of {matrix} gives **{value}** in its {words}; {query} attends to it.",
    ),
    "scores": "The query of {query} times the key of {key}, channel by channel, adds up to a score of **{value}**.",
    "scaled": "For {query} and {key}, {before} becomes **{value}**; smaller scores spread the weights over more keys.",
    "mask": "**{kept}** of {whole} pairs are visible (1), the others masked (0); {query} sees {seen} of {keys} tokens.",
    "weights": "{query} takes **{value}** of its mix from {key}; the weights of its row add up to 100%.",
    "context": (
        "{query} adds up the values, each times its weight: **{value}**. Its largest weight, {share}, is on {most}."
    ),
    "output": "{query} is a row of {columns} numbers again, now made from **{seen}** of {keys} tokens.",
}
ALL = "{way}: all {count} parts"
HELP = "{way}, one matrix at a time. Play it, or click a part. Point at a cell to see what it was computed from."
WHOLE = "{kind} from x to output"
GIVEN_VALUES = "{kind} from the given queries, keys and values to the context of each head"
NO_VALUES = "{kind} from the given queries and keys to the weights (there are no values)"
VIEWS = {"one": "One step", "all": "All at once"}
SMALL = "Load a 4-word example"
SMALL_HELP = "4 words with 8 channels and 2 heads: small enough to calculate by hand, with every number in its cell."
ALL_STEPS = "Show all steps on 4 words"
NO_MORE = "On 4 generated words, the steps go on to the output."
SHARED = "Settings are shared by all pages."
SMALLER = "Show {tokens:,} tokens of {width:,} channels"
NO_STEP = "These settings have no step “{wanted}”; “{shown}” is shown."
PROOF = "Largest difference of the context from `torch.nn.functional.scaled_dot_product_attention` on the same q, k, v and mask."

BY_CELL = "By cell: ${formula}$"
HERE = "**{step}**: {size}. By cell: ${formula}$"
SIZE = "{shape} numbers (`{axes}`) · {memory} · {flops}"
VIEW = "a view without memory of its own"
MEMORY = "{bytes} of memory"
FLOPS = "{flops} to compute"
NO_FLOPS = "no arithmetic"
AXES = "Axes here: {letters}. In formulas h, i, j are the head, the row and the column of a cell, counted from 0."
COSTS = "Other sizes, memory and FLOPs"
FORMULAS = "Formula, shape, memory and FLOPs of every step"
FORMULAS_TABLE = "| Step | Formula | Size |"

FULLY_MASKED = (
    "{blind} of {queries:,} queries are fully masked: all {keys:,} logits are minus infinity. Their weights, context and "
    "output are defined as zero (the formula gives 0 / 0)."
)
WIDTHS = {"keys": "Cross-attention (0: off)", "d_v": "Value width (0: d_head)"}  # labels that say what 0 is
RANDOM = "The matrices W are random: the numbers show the arithmetic, not a meaning."
ONE_CHANNEL = "One channel per head: a score is one product, q times k."

TOTAL = "**{what}**: {bytes} if every matrix is kept, and {flops} for one sequence, forward only, without skipping masked pairs."
WHOLE_PASS = "The whole pass"
STEPS_SHOWN = "All steps shown"
BYTES = "Memory (bytes)"
BYTES_HELP = "float32; the mask has one byte per pair"
FLOPS_HELP = "An addition, a product or another function of a number counts as one; the softmax as 5 per cell"
MEMORY_SHARE = "Share of memory"
FLOPS_SHARE = "Share of FLOPs"
