"""The words of the Softmax page, number types."""

FOUND = {  # label and help of each column
    "dtype": ("Type", ""),
    "exponent": (
        "Computed",
        "Max-subtracted, naive: every step is stored in the type. Fused: scores and softmax in float32, weights in the type.",
    ),
    "error": ("Largest error", "Largest difference of a weight from float64, over rows without NaN."),
    "row_sum": ("Error of row sums", "Largest difference of a row's sum from float64, over rows without NaN."),
    "worst": ("Worst query", "The row with the largest difference; rows with NaN rank worst."),
    "broken": ("NaN rows", "Rows with at least one NaN."),
    "dots": ("q·k = ∞", "Scores that overflowed, of visible pairs."),
    "logits": ("Logit = ∞", "Scaled scores that overflowed, of visible pairs."),
    "exps": ("exp = ∞", "Exponentials that overflowed."),
    "sums": ("Σ exp = ∞", "Rows whose sum overflowed."),
}
ENDS = {
    "dtype": ("Type", ""),
    "largest": ("Largest number", "Larger scores and sums overflow."),
    "step": ("Step at 1", "Distance from 1 to the next larger number."),
    "overflows": ("exp(x) overflows above", "ln of the largest number."),
    "vanishes": ("exp(x) is 0 below", "ln of half the smallest positive number."),
}

EVERY_TYPE = "Every number type against float64"
METHODS = (
    "*Max-subtracted* and *naive* round every step to the type, like code that stores its scores. *Fused* keeps scores and "
    "softmax in float32, like the fused kernels of `F.scaled_dot_product_attention`, which are used by default."
)
WHY = r"""
$e^{{\ell}}$ overflows if a logit is large; $e^{{\ell - \max \ell}}$ never does, and gives the same weights:
$\frac{{e^{{\ell_j}}}}{{{extra}\sum_i e^{{\ell_i}}}} = \frac{{e^{{\ell_j - m}}}}{{{shifted}\sum_i e^{{\ell_i - m}}}}${sink}.
"""
SINK = r"; but $e^{{-m}}$ overflows if all logits are far below zero"
WHY_SPARSE = """
There are no exponentials, so nothing overflows before the scores do. The threshold does not depend on what is subtracted from
all logits; if the largest logit is not subtracted (naive), the threshold has fewer digits for large logits.
"""
WHY_SIGMOID = r"""
No maximum is subtracted: $1 / (1 + e^{{-\ell}})$ (naive) is correct even if the exponential is infinite, because 1 / ∞ is 0.
The other two use `torch.sigmoid`.
"""

OVERFLOWS = "What overflows when"
NO_OVERFLOW = "All queries are fully masked, so nothing can overflow."
DEMANDS = "The largest |q·k| of this head is {dot:.4g}, and the largest logit {logit:.4g}."

DIFFERENCE = "**Difference from float64**: {dtype}, {exponent}: {scores}"
SCORES = {True: "float32 scores", False: "stored scores"}
DIFFERENCE_ALT = "Heatmap by query and key: difference of the weights from float64"
SCALE_END = "The scale ends at {end:.2g}, the largest rounding error of a number near 1 in {dtype}. {gaps}"
LONGER_SCALE = (
    "The scale ends at {end:.2g}: some differences exceed {rounding:.2g}, the largest rounding error of a number near 1 in "
    "{dtype}. {gaps}"
)
GAPS = "Gaps are masked pairs. "
NAN_CELLS = "Pink cells are NaN."
WORST = "**Worst row**: {query}"
WORST_ALT = "Bars by key: difference of the worst row from float64"

ALL_NAN = "all rows are NaN"
OF_ROWS = "{value:.3g} ({finite} of {rows} rows)"
ERRORS = "Largest difference {error:.3g}; row sums differ by at most {row_sum:.3g}."
NAN_ROWS = "{broken} of {rows} rows are NaN: {why}.{others}"
OTHER_ROWS = " In the other rows, the largest difference is {error:.3g}."
FUSED_NAN = " Fused, with float32 scores: {broken} of {rows} rows are NaN."
FUSED = " Fused, with float32 scores: no NaN, largest difference {error:.3g}."

DOTS = "scores that overflowed in {dtype}: {count:,}. No softmax can fix this; q or k must be smaller{wider}"
LOGITS = (
    "logits that overflowed in {dtype} when they were scaled: {count:,}. No softmax can fix this; the scale must be "
    "smaller{wider}, or the temperature higher"
)
WIDER = ", or the scores kept in float32"
ONE = "the 1 in the denominator becomes e^-m, which is infinite if the largest logit m is far below zero"
EXPONENTIALS = (
    "overflowed exponentials: {exps:,}, sums: {sums:,}; infinity divided by infinity is NaN. Subtracting the largest logit "
    "first prevents this"
)
