"""The words of the Heads page."""

WHAT = "Each token mixes in information from other tokens; a weight says how much it takes from each."
OWN = "The mask comes with this source; the mask setting has no effect."
GATE = " Weights are those before the output gate, which changes outputs alone."
CELLS = (
    "**A head** decides how much each {unit} (row, query) takes from each {unit}{causal} (column, key{masked}). {more}"
)
UP_TO_ITSELF, MASKED_LATER = " up to itself", "; the causal mask hides later ones"
PIXEL = "A pixel shows its largest weight. "
PIXEL_MEAN = "A pixel shows the mean of up to {tile} x {tile} weights; zoom in below to see single ones. "
BUILT = "A layer has several, whose outputs it joins. Built by hand{random}. "
ONE_RANDOM, SOME_RANDOM = "; head {heads} is random", "; heads {heads} are random"
MASK = "**Mask {mask}:** {help} "
IN_BRACKETS = "In brackets: what a head was built for, where its weights here do not clearly show it. "
TRY = "**Try:** click or tap another map."
ONE_COLOUR = (
    "A pixel shows the largest of its weights, and in **head {head}** nearly every one holds a weight of at least "
    "twice the uniform weight. Zoom in below, or show fewer tokens, to see which keys get it."
)
UNNAMED = " A head has a name only if this text shows its rule."
NO_ROLE = "follows no single pattern here: no kind of token clearly gets most of its weight."
GIVES = "**{heads}{of}.** In **head {head}**, {query} {does}.{more}"
IN_HEADS = " {query} has its largest weight there in {count} of the {heads} heads."
OF_LAYER = " of layer {layer} of {model}"
TRAINED_MODEL = "the model trained on {task}"
TASK = "**Task:** {says} "
UNUSUAL_SCALES = {"none": "**Without scaling**", "1/d_head": "**Divided by {d_head}** instead of √{d_head}"}
MEAN_LARGEST = "{scale}, the largest weight of a row of **head {head}** is {now} on average{usual}.{random}{saturates} "
STAYS, INSTEAD = ", the same as with 1/√d", "; with 1/√d, {usual}"
IN_RANDOM = " Random head {head}: {now} and {usual}."
SATURATES = " The softmax saturates: its gradients shrink."
RANDOM_SHOWS = "See head {head}"
SINK = "**Sink:** a token that takes spare weight."
LONG = "**{heads}** over {tokens} tokens. Each head is a preview until its map is exact."
FORMULAS = "Point at a column title for its formula."

# The title.
HELP = "{what} {heads}{recorded} over {tokens}. {sums}{rule}{gate}"
HEAD_COUNT, HEADS_COUNT = "{count} head", "{count} heads"
RECORDED = " of layer {layer} of “{source}”"
TOKENS = "{tokens:,} tokens"
TOKENS_CROSS = "{tokens:,} tokens and {keys:,} of another sequence"
SUMS = "A row is a query: {sums}. "
WHOSE, HAND_BUILT, MINILM, SMOLLM2 = "Heads of", "Hand-built", "MiniLM", "SmolLM2"  # the switch and what it opens
TEMPERATURE = "Temperature {temperature}"  # beside the title, as its field is under More settings
NOT_SHOWN = "({name})\n{says}"  # the rule of a head whose weights do not show it
RANDOM_HEAD = "Head {head} is random, not learned"  # beside the title
DOES = "**{head}** {role}"
RANDOM_DOES = "**{head}** is random: {query} puts {share} of its weight on {key}."

# The selected row.
ROW_FOLD = "Selected row: lines, bars or output"
ROW = "{query} {said}. {more}"
LARGEST_WEIGHT = "{most}. Largest weight: {largest}"
ROW_HELP = "{query} in head {head} {most}. {entropy}."
ROW_UNSAID = "{query} in head {head}."
BLIND = "{query} has no visible key."
ROW_ALT = "Bars by key: weights of the selected query"
LOG_SCALE = ("Log scale", "Log scale centred on the uniform weight.")
LINEAR_SCALE = ("Linear scale", "Linear scale from 0.")
QUERY_HELP = "Position of the query whose row is shown, 0 to {last:,}; -1 follows the last token."
TOO_MANY = ":material/conversion_path: The line view shows at most {most} words per side; this selection has more."
NEAR = "Show words {words}"
NEAR_HELP = "Zooms to the words around the selected query, in the zoomed head below as well."
TO_BARS = "Show bars"
NORMED = "Before W_o, this output is divided by its root mean square and multiplied by 1 − λ."
WEIGHTED = "Weights times values: the head output for the selected query"

# The map under a question about the row.
ASKED_ROW = "The weights are hidden until the answer is revealed. The question is about the framed row."

# The selected head.
ENLARGE = "Zoom into this head"
ZOOM = "Drag a rectangle to zoom in."
ZOOM_OUT = "Zoom out"
WHOLE = "Whole head"
LARGE_ALT = "Heatmap by query and key: weights of the selected head"
EXTENT = "Queries {first_query:,} to {last_query:,}, keys {first_key:,} to {last_key:,}: {resolution}."
EVERY_TOKEN = "every token"
TILES = "{tile} x {tile} tokens per pixel"
STATISTICS = "Head statistics{of}"
STATISTICS_HELP = "Means over queries with a visible key{units}. {formulas}"
UNIT = "{statistic} in {unit}"
HEAD, ROLE = "Head", "Role"
FORMULA_UNIT = "{formula} ({unit})"
NO_STATISTICS = "No {statistics}: {why}, so rows are no distributions."

# The map of layers and heads.
MAP_FOLD = "Heads of all layers"
MAP = "{formula} Click or tap a cell to open its head."
MAP_ALT = "Heatmap by layer and head: {statistic} of each head"
TO_LAYERS = "Compare all heads → Layers"
FORMULA = "{label}: {formula} ({source})."
LARGEST = "Largest: {head}, with {value}."
SELECTED = "{head} (selected): {value}."
AUTO = "Auto"
NEEDS_DISTRIBUTIONS = "{statistic} needs rows that are distributions; these are not. Choose another statistic."
NEEDS_TEXTS = "{statistic} needs token texts, which this source does not have. Choose another statistic."
NO_VISIBLE_KEY = "No query has a visible key under this mask."

# Code and files.
CODE = "PyTorch code"
WHOLE_PROGRAM = "The whole program, which also makes x and the matrices W:"
DOWNLOADS = "Downloads"
TENSORS = "Weights and all tensors (.npz)"
WEIGHTS = "Weights (.csv)"
WEIGHTS_HELP = "All heads; if that is more than {lines} lines, only the selected head."
VECTORS = "Queries and keys of this layer (.npz)"
MAPS = "Maps of all heads and statistics of every query (.npz)"

# A long sequence.
SMALLER = "Show {tokens:,} tokens"
STATISTICS_LATER = "Head statistics appear once all heads are exact."
CHECKED_LATER = "Checked against {reference} once all heads are exact"
EXACT_HEADS = "Exact weights: {done} of {heads} heads, {memory}."
ENDED = "{why}: {done} of {heads} heads are exact, the others are previews."
CANCELLED = "Cancelled"
PIXELS = "Each pixel: the {pool} of {tile} x {tile} weights.{preview}"
POOLS = {"max": "largest", "mean": "mean"}
PATTERN_HIDDEN = (
    " In head {head}, nearly all contain a large weight, so each row has one colour: zoom in on the head below."
)
ZOOM_IN = "Zoom in to tokens {first:,} to {last:,}"
ZOOM_IN_HELP = "Shows single weights, coloured as multiples of the uniform weight."
PREVIEW = " Heads from {done} on: preview from one query per tile."
LONG_ROW = (
    "{query} in head {head} {most}. {support}{missing}{entropy}{exact}. Each bar: the largest weight of {tile:,} "
    "keys{forms}"
)
EXACT = ", exact"
FORMS = ". Lines and output are shown up to {most:,} tokens"
TOP = ("Key", "Token", "Weight")
NO_ZOOM = "Preview. You can zoom once this head is exact."
