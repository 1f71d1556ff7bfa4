"""The words of the Softmax page: its finding, one row, all rows, and scaling."""

ROW = "{name} for {query}: the bigger the logit of a key, the bigger its {rule}."
RULES = {  # what stays true of the row while a logit of it is dragged
    "softmax": "share; all shares add up to 100%",
    "sink": "share; what is missing from 100% goes to no key",
    "threshold": "share, if it is above a threshold; all shares add up to 100%",
    "sigmoid": "weight; each key is weighed by itself",
}
ROW_FIXED = "{query} in head {head} puts {weight} of its weight on {key}."
ROW_ALONE = "{query} in head {head} weighs {key} by {weight}, the most of a row that sums to {sums}."
BLIND = "{query} is fully masked: all its weights are zero."
NO_SCORES = "This source has weights only; the logits before the softmax are unknown."
FINDINGS = {
    "all": "{name} turns logits into weights: {signs}, and {sums}.",
    "scaling": "Wider heads have larger scores; dividing by √d keeps a softmax from choosing one key by chance.",
    "precision": "Fewer bits round logits and weights: one head in each number type, against float64.",
    "positions": "A position rule changes scores by how far a key is from its query.",
}
ALL_HEADS = "Head {sharp} concentrates its weights most (mean entropy {low} nats), head {even} least ({high})."
ALL_ONE = "Rows of head {sharp} have a mean entropy of {low} nats; uniform weights would have {bound}."
NOISE = "Random noise, no model"  # beside the title of scaling
SIGNS = ("none is negative", "some may be negative")
HELP = (
    "{name} turns logits into weights. ${formula}$, here with scale {scale}, "
    r"temperature T = {temperature}, d\_head = {d_head}."
)
TOPICS = {
    "row": "One row",
    "all": "All rows and heads",
    "scaling": "Why divide by √d",
    "precision": "Number types",
    "positions": "Positions",
}
FOR_ENGINEERS = "For engineers"
SCALING_OFF = "Turn scaling off"
SCALING_ON = "Divide by √d again"
SCALING_HELP = "Softmax of the scores as they are, or divided by √d, the root of the width of a head."
TRY_WITHOUT = "The scores under *One row* are then no longer divided."
TRY_WITH = "Scaling is off. *One row* has its scores as they are; √{width} = {factor:.3g} would divide them."
WEIGHT_AXIS = "Weight axis"
WHO = "{query} in head {head}"

UNSCALED = "Without division by √d, the largest logit of this row is {largest:.3g} instead of {divided:.3g}."

# The questions.
SPREAD = ("more evenly", "on fewer keys", "as before")
UP_TO, BETWEEN, OVER = "at most {high}%", "over {low}% to {high}%", "over {low}%"
TEMPERATURE = "{who} has the weights below with {before}. Now it is {now}. How will the weight be spread?"
SETTING = "scale {scale} and temperature {temperature:g}"
TEMPERATURE_ANSWER = "The entropy{shares} {change} nats: every scaled score is {ratio:.3g} times what it was{later}."
SHARES = (" of the weights, divided by their sum,", " of the sizes of the weights, divided by their sum,")
STAYS = "stays at {entropy:.3f}"
GOES = "goes from {before:.3f} to {entropy:.3f}"
LATER = ", before {later}"
LATER_STEPS = ("the softcap", "the bias")
ONE_KEY = ", but only one key is visible"
SHARE = (
    "{who} has the scores below; {visible}. They are scaled ({scale}, temperature "
    "{temperature:g}), then the {name} is taken. How large is the largest weight?"
)
SHARE_ANSWER = "{key} gets {weight}{why}."
SHARE_WHY = (
    ": its logit is {gap:.3f} above the next, so its weight is exp({gap:.3f}) = {ratio:.3g} times that of the next"
)
VISIBLE = {1: "1 key is visible"}
VISIBLE_MORE = "{keys:,} keys are visible"
GREY = " and the grey ones are masked"
NO_KEY = "The query is fully masked, so all weights are zero."
GIVEN_ALT = "Bars by key: the given step of the selected query"

# One row.
TWO = "Logits can't be dragged here: each key has two, one for each softmax. Both are below."
PANELS_ALT = "Bars by key, one panel per step: scores, scaled scores, logits and weights of the selected query"
SYMBOLS = (
    r"$T$: temperature. $\mathrm{{mask}}_j$: what the mask adds to the logit of key $j$, 0 if the query attends to it and "
    r"$-\infty$ if not. "
)
LARGEST_LOGIT = "$m$: the largest logit, subtracted so that no exponential overflows. "
TAU = r"$\tau$: the threshold of the row, in units of logits; keys at or below it get a weight of exactly zero. "
SOFTCAP = "$c$ = {softcap:g}: softcap. "
BIAS = "$b_j$: position bias, {adds}. "
FORGETTING = "$b_j$: what the tokens after key $j$ have forgotten of it{bias}. "
AND_BIAS = " and position bias"
NORMED = "Hats: divided by the root mean square (QK-norm). "
LOG_KEYS = r"$\lambda$: the logarithm of the number of visible keys. "
MASKED = "Grey, and ×: masked keys. "
SMALL = "All weights are below {limit:g}; choose another weight axis to see them. "
UNIFORM = "Line: the uniform weight, 1 / {keys} visible keys, at the centre of the logarithmic axis. "
AXIS_REASON = "Weight axis, {reason}. "
BOTH_SIGNS = "Weights of both signs: zero is in the middle of their axis, and the largest of them ends it. "
AXES = "Axis limits are rounded to 1, 2, 5, 10 …, so they rarely change."
ROW_ONLY = "{who}."
ROW_NUMBERS = "{who}, with the numbers of the key with the largest weight, {key}."
ROW_SUM = "Visible keys: {visible}. {support}Sum of weights: {sums}. {missing}{entropy}."
SUPPORT = "Support: {support} of them; {zeros} have a weight of exactly zero, not above the threshold. "
FOLDS = {  # label and icon
    "steps": ("From q · k to the weights, with numbers", "functions"),
    "mass": ("How many keys hold most of the weight", "stacked_line_chart"),
    "variants": ("The same row with other softmaxes", "compare"),
}
MASS_SET = "{size} have {share:.0%}"
MASS_SETS = "Smallest sets of keys: {sets}{negative}."
NEGATIVE = "; negative weights count by their size"
FULLY_MASKED = "The row is fully masked."
MASS_ALT = "Line: the total weight of the keys with the largest weights, by their number"
VARIANTS = "The weights of this row with {name}, and below with other softmaxes, all on one scale.{note}"
VARIANT = {  # by what a softmax does
    "plain": "**{name}**: all of the row goes to keys; it sums to {sums}.",
    "rest": "**{name}**: one more number in the denominator, of no key, takes {rest}; the row sums to {sums}.",
    "sparse": "**{name}**: {support} of {visible} visible keys have weight, the others exactly zero.",
    "single": "**{name}**: every key is weighed by itself, after {bias} is subtracted from its logit (ln {length:,}); the "
    "row sums to {sums}.",
    "capped": "**{name}**: no logit exceeds {cap:g} in size; the largest weight is {largest}.",
}
SINK_EXAMPLE = "Example: a head that attends to nothing"
VARIANTS_ALT = "Bars by key, one panel per softmax: its weights of the selected query, on one scale"
VARIANT_COLUMNS = ("Softmax", "Largest weight", "Sum", "Keys with weight")
NO_SOFTCAP = " No softcap is set; 50 is shown, as in Gemma 2."

# All rows.
EVERY_ROW = (
    "Every row of every head: how large its weights are, and how evenly spread (**entropy**: 0 if one key has all)."
)
EVERY_SUM = "Every row of every head: how large its weights are, and what they sum to."
SIZES = "Weights by size"
SIZES_HELP = "${size}$ of the {pairs:,} visible pairs, one strip per head."
SIZES_ALT = "Bars by size, one strip per head: the number of weights of each size"
ENTROPY = "Entropy by query"
ENTROPY_HELP = r"$H_q = -\sum_k p_{qk} \ln p_{qk}$, one strip per head. Dashed: its upper bound."
ENTROPY_ALT = "Lines by query, one strip per head: the entropy of its weights and its upper bound"
NO_DISTRIBUTION = "{why}, so rows are no distributions and have no entropy."
SUMS = "Head {head}: rows sum to {smallest} to {largest}, mean {mean}."
SUMS_MASKED = "All queries are fully masked, so every row sums to 0."
COUNTS = (
    "Head {head}: {below:,} pairs have a weight below 1e-8, {zeros}{negative}. Bar heights are relative to the tallest bar of "
    "all heads; a single pair is still visible."
)
ZEROS = "{count:,} exactly zero in float32"
ZEROS_SPARSE = "{share} exactly zero, below the threshold of their row"
NEGATIVES = ", {share} negative"
ENTROPIES = (
    "Head {head}: entropy from {smallest:.3f} to {largest:.3f} nats, mean {mean:.3f}. Dashed: ln(visible keys){extra}. Each "
    "strip ends at {height:.2f} nats; if a point covers several queries, the band shows their range."
)
ENTROPY_EXTRA = " (1/e each for one or two keys, because a row may sum to less than one)"
NO_ENTROPY = "All queries are fully masked, so there is no entropy."
ALL_MASKED = "{masked} of {queries} queries are fully masked and are not counted here."
ALL_SINGLE = "Every query that is not fully masked has one visible key: {alone}."
ALONE = "all weights are one and all entropies zero"
ALONE_REST = "the rest goes to {rest}"
ALONE_SCORE = "its weight depends on its logit"
ALONE_TOTAL = "its weight is {total}"
MANY_ZEROS = "{share} of all weights are zero in float32: the logits are far apart."

# Scaling.
WHY_SCALE = (
    "d is the width of a head, {d_head} here. The wider a head, the larger its scores, by chance alone: with {width:,} channels "
    "and no scaling, the largest of {keys:,} weights is {largest} on average{gradient}. Divided by √d, it stays between {low} "
    "and {high} from {first} to {width:,} channels."
)
LITTLE_GRADIENT = ", and in most rows hardly any gradient passes"
VARIANCE_THEORY = r"""
For independent $q, k$ of mean 0 and variance 1: $\mathrm{{Var}}(q \cdot k) = \sum_{{i=1}}^{{d_\mathrm{{head}}}}
\mathrm{{Var}}(q_i k_i) = d_\mathrm{{head}}$; divided by $\sqrt{{d_\mathrm{{head}}}}$ it is 1 at every width. The gradient
through a row is multiplied by its Jacobian, $J = \mathrm{{diag}}(p) - p\,p^\top$, with
$\lVert J \rVert_F^2 = \sum p^2 - 2 \sum p^3 + \left(\sum p^2\right)^2$.
"""
CURVES_DATA = (
    "{keys:,} keys of normal noise (seeded), without mask, positions and softcap, with the standard softmax. Diamond: the "
    "current d, scale and temperature."
)
MORE_CURVES = "Variance, entropy and gradient by d"
CURVES = {  # alternative texts
    "variance": "Points by d_head: the variance of the logits, with and without scaling",
    "entropy": "Lines by d_head: the mean entropy of a row, with and without scaling",
    "greatest": "Lines by d_head: the mean of the largest weight of a row, with and without scaling",
    "jacobian": "Lines by d_head: the norm of the softmax's Jacobian, with and without scaling",
}
VARIANCE = (
    "**Variance** of the logits: d\\_head without scaling, 1 with it. All measured points are within {errors:.1f} standard "
    "errors of these."
)
JACOBIAN = (
    "**Jacobian without scaling**: the mean norm {rise} to {end:.3f} at {width}. The median {median} ends at {median_end:.3g}: "
    "a median far below the mean means that most rows pass hardly any gradient and a few still do."
)
RISES = "first rises, from {start:.3f} at d\\_head 1 to {peak:.3f} at {width}, then falls"
FALLS = "falls from {start:.3f} at d\\_head 1"
MEDIAN_BELOW = "is less than half of it from d\\_head {width} on and"
MEDIAN_ABOVE = "stays above half of it and"
JACOBIAN_SCALED = (
    "**Jacobian with scaling**: it stays between {low:.3f} and {high:.3f} from d\\_head {first} to {last}; a row of uniform "
    "weights over {keys:,} keys has {uniform:.3f}."
)
NOW = (
    "**Now** (diamond): d\\_head {width}, scores times {scale:.4g} (scale over temperature). Logits have a variance of "
    "{variance:.4g}, {theory:.4g} in theory. Entropy {entropy:.3f} nats, largest weight {largest}, norm {jacobian:.3f}, its "
    "median {median:.3g}."
)
