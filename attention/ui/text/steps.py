"""The words of the Steps page."""

STEP = "**{step}**: {lesson}"
ALL = "{way}, in {count} matrices"
HELP = "{way}, one matrix at a time. Play it, or click a part. Point at a cell to see what it was computed from."
WHOLE = "{kind} from x to output"
GIVEN_VALUES = "{kind} from the given queries, keys and values to the context of each head"
NO_VALUES = "{kind} from the given queries and keys to the weights (there are no values)"
VIEWS = {"one": "One step", "all": "All at once"}
SMALL = "Load a 4-word example"
SMALL_HELP = "4 words with 8 channels and 2 heads: small enough to calculate by hand, with every number in its cell."
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
COSTS = "Axes, memory and FLOPs"
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
