"""The words of the Masks page."""

PAIRS = "It keeps {pairs} of {whole} pairs ({share})."
FINDING = "**{name}**{span} keeps {pairs} of {whole} pairs ({share})."
WHYS = {  # what a mask is for, in one sentence of at most two lines on a phone
    "full": "The **full** mask hides nothing: a model that predicts the next word could copy it.",
    "causal": "The **causal** mask hides later words, so that a model that predicts the next can't copy it.",
    "window": "The **window** mask shows a word and the {before} before it: less work in long texts.",
    "local": "The **local** mask shows a word and its neighbours on both sides: less work in long texts.",
    "prefix": "The **prefix** mask shows a given text whole, and what is written after it word by word.",
    "documents": "The **documents** mask keeps texts apart that are packed into one sequence for training.",
    "dilated": "The **dilated** mask skips every second word: a window reaches twice as far for the same work.",
    "strided": "The **strided** mask shows nearby and sampled words: two layers reach every earlier word.",
    "global": "The **global** mask lets the first word see all and be seen by all, so that distant words meet.",
    "sinks": "The **sinks** mask keeps a window and the first four words, where many heads put spare weight.",
    "padding": "The **padding** mask hides filler at the end, which gives the texts of a batch equal lengths.",
}
COMBINED = {  # what a combination of two masks keeps
    "and": "**{name}** keeps a pair if both masks keep it.",
    "or": "**{name}** keeps a pair if either mask keeps it.",
    "without": "**{name}** keeps a pair if the first mask keeps it and the second does not.",
}
NEARBY = "words just"  # while a card asks how far a window sees
# What the mask in use does to the selected row of the selected head.
THE_MASK, OWN = "the **{mask}** mask", "the source's **own** mask"
SEES = {  # of a query from which the mask hides keys: what it sees, and where its weight goes
    "causal": ("can't see later words", "itself and earlier words"),
    "padding": ("can't see the last {last}, treated as filler", "the other words"),
    "documents": ("can't see other groups of words, treated as other texts", "its own group"),
}
SEES_SOME, SEES_ITSELF = "sees {visible} of {whole} words", "sees itself alone"
TO_THEM, TO_IT, TO_ITSELF = "them", "it", "itself"
MOVES = "Under {mask}, {query} {sees}: **{share}** of its weight moves to {rest}."
GOES = "Under {mask}, {query} {sees}; their **{share}** goes to {rest}."
LOSES_SOME = (
    "Under {mask}, {query} loses {hidden} of {whole} words; their **{share}** of weight moves to the other {visible}."
)
LAST, LAST_MORE = "word", "{span:,} words"  # of a padding mask
FRAMED = "the framed “{token}”"  # a token of which the sequence has several
BEFORE_MASK = "Before the mask: every word is visible to the framed one."
ANOTHER_ROW = "From {usual} the mask takes under 0.1%, so another word is selected."
LOSES = "Under {mask}, {query} {sees}: **{share}** of its weight was on the others."
MOVES_NOTHING = "Under {mask}, {query} {sees}: it had no weight on the others, so none moves."
SEES_NONE = "Under {mask}, {query} sees no word: all its weights are zero."
SEES_MORE = "Under {mask}, {query} sees {count:,} {words} more than under {base}, with **{share}** of its weight."
WORDS = "word", "words"
LOSES_NONE = "Under {mask}, {query} loses no word. {most} loses most: **{share}** of its weight."
NO_WEIGHT_THERE = "Under {mask}, no weight moves: head {head} had none on the words that it hides."
FULL_MOVES_NOTHING = "The **full** mask hides no word, so no weight moves."
OWN_FULL = " It is this source's own mask: it reads whole texts."
MADE_UNDER = (
    "These heads were made under the mask **{baseline}**. The picture shows what another mask does to their weights, not what "
    "a model trained with it would learn."
)
QUERY = "query {query:,}"
TRY_CAUSAL = "Try the causal mask"
FIXED = "The weights of this source are fixed: no mask changes them."
HELP = (
    "A mask defines which keys each query may attend to. Rows are queries, columns are keys; masked pairs are hatched. A "
    "number after a word is its position, counted from 0."
)
MORE = "Effect on every head, fully masked rows, code"
REACH_FOLD = "Reach through stacked layers"
TITLES = {
    "effect": "Effect of the mask on the weights",
    "empty rows": "Fully masked rows in PyTorch",
    "code": "The mask as code",
}
QUESTION_SHORT = "The question is about the first {shown:,} of {tokens:,} tokens, as a sequence of their own."

# The mask in use.
IN_USE = "In use{side}: **{name}**. {about} {tiles}{users}"
NOT_IN_USE = "Selected{side}, but not in use: **{name}**. {about} {tiles}{users}"
OPERATIONS = (
    "{kept} operations per layer instead of {whole} ($4 n {keys} d_{{model}}$, for $q k^\\top$ and $w v$). {blocks} "
    "{reach}Source: {source}."
)
FULLY_MASKED = {1: "1 query is fully masked: {queries}."}
FULLY_MASKED_MORE = "{count:,} queries are fully masked: {queries}."
REACH = (
    "Reach: largest distance, in tokens, between an output after {layers} layers and an input that it depends on (exact, with "
    "residual connections). "
)
CHAIN = "Information arrives through {layers} layers, an arrow per layer: {chain}."
ONE_ARROW = "Farthest in one layer: {chain}."
REACH_HEAD = "| mask | {layers:,} layers reach back | and ahead |\n| --- | --- | --- |"
REACH_LINE = "| {name} | {back:,} | {ahead:,} |"
NO_REACH = "The {keys:,} keys belong to another sequence, so reach across layers is not defined. "
USERS = "Used by: {users}."
TILES = "A pixel is {tile:,} × {tile:,} pairs; a stronger colour means more pairs kept. "
SPAN = ", span {span:,}{same},"
SAME_SPAN = " (same as {tokens:,}, the number of tokens)"
BLOCKS = "A GPU computes blocks of {block} × {block} pairs and can skip only fully masked blocks: {share} of them here."
ONE_BLOCK = (
    "A GPU computes blocks of {block} × {block} pairs and can skip only fully masked blocks; up to {block} tokens are one "
    "block, which is {kept}."
)
KEPT, NOT_KEPT = "not skipped", "fully masked"

# The effect of the mask.
LOST, GAINED = "weight on masked keys", "weight on added keys"
MOVED_ALT = "Bars by head: {title}, mean of all queries"
EFFECT_SHORT = (
    "This needs every weight of {heads} heads, so it shows the first {shown:,} of {tokens:,} tokens, as a sequence of their "
    "own."
)
SELECT = "Select {query}"
BASELINE = "Compared with **{baseline}**{span}{every}{selected}."
BASELINE_SPAN = ", span {span:,}"
EVERY_KEY = " (every key)"
AS_SELECTED = ", as selected"
OWN_BASELINE = "Compared with **{baseline}**{span}, the source's own mask."
OWN_MASK = "**{mask}** is the source's own mask. Select another mask above to see its effect."
SAME_PAIRS = "**{mask}** keeps the same pairs as **{baseline}**, so no weight changes."
MASKS_NONE = "**{mask}** masks no key that is visible under **{baseline}**. {added}"
ADDED = (
    "Keys visible under **{mask}** but not under **{baseline}** get **{share}** of the weight of head {head}, over all "
    "queries."
)
ZERO_WEIGHT = "The keys that **{mask}** masks have zero weight in float32 under **{baseline}**, so no weight changes."
BLIND = "Under **{mask}**, {query} has no visible key, so all its weights are zero."
OTHER_ROWS = (
    "**{mask}** removes **{others}** of the weight of head {head}, over all queries. {goes} {most} loses most, **{share}**. "
    "The selected query, {query}, loses no key."
)
ROW = (
    "Under **{baseline}**, {query} in head {head} has **{own}** of its weight on keys that **{mask}** masks; over all queries it "
    "is **{others}**. {goes}{rest}"
)
REST = " Part of it goes to {rest}."
PROPORTION = (
    ", in proportion to their weights",
    "; over fewer keys, the query scale makes the differences of their scores smaller",
)
AS_SUM = "{value} (as a sum)"
HEAD = "Head {head}, {mask}"
HEAD_BASELINE = "Head {head}, baseline: {mask}"
HEAD_DIFFERENCE = "Head {head}, difference"
HEAD_ALT = "Heatmap by query and key: {title}"
COLORS = "Colour scale of the weights: {reason}."

# Fully masked rows.
RUNNING = "Running every path, forward and backward"
BLIND_QUERIES = "**{blind:,} of {queries:,} queries are fully masked** under {mask}: {which}."
NOT_BLIND = "Under {mask}, every query has a visible key."
TRY = "Try one with fully masked rows: causal without window"
PATH, MODE = "Path", "Mode"
DOES_NOT_RUN = ":gray[does not run here]"
NOTHING_TO_SHOW = "With this mask, every path that runs here returns the same rows, with finite gradients."
NO_BLIND_ROW = ":gray[no fully masked row]"
NAN_GRADIENTS = " :red-badge[NaN gradients]"
ROWS_DIFFER = " :red-badge[other rows differ by {difference:.0e}]"
ISSUES = {
    103963: "boolean masks with fully masked rows gave NaN; zeros since torch 2.5",
    103749: "the same with padding",
    109517: "NaN from the memory-efficient kernel, on a GPU",
    160064: "nn.MultiheadAttention gives NaN when it returns its weights",
}
AUDIT = (
    "Run just now on head {head}{few}, with its first {channels} channels and scale 1/√{channels}. In boolean masks of "
    "nn.MultiheadAttention, True means masked; it gets the keys as tokens, and identity projections. The lowest finite number, "
    "-3.4e38, makes all scores of a fully masked row equal, so the row attends to every key, masked ones included. Gradients are "
    "of a loss over the other rows: a NaN in an unused row still reaches all projections, as 0 × NaN is NaN. PyTorch issues: "
    "{links}."
)
AUDIT_FEW = " over the first {shown:,} of {tokens:,} tokens"

# The mask as code.
FLEX = "**`mask_mod` for `flex_attention`**: skips fully masked blocks; fast once compiled."
DENSE = "**Dense boolean tensor**: True means visible; for short sequences and any backend."
OWN_CODE = "The source's own mask: ranges of queries, each with its visible keys."
RULE_SOURCE = "Source of the rule: {source}."
