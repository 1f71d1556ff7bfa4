"""The words of the Layers page."""

FINDING = "{first} has the highest {statistic} of {heads}: {most}."
FINDINGS = {  # of statistics that are no weight on some keys
    "entropy": "{first} spreads its weight most widely of {heads}: the mean entropy of its rows is {most}.",
    "entropy_share": "{first} has the highest normalized entropy of {heads}: {most} of its maximum, that of uniform weights.",
    "effective_keys": "{first} spreads its weight most widely of {heads}: like equal weights on {most}.",
    "greatest": "Of {heads}, {best} is the most focused: the largest weight of a row is {most} on average.",
    "even": "Of {heads}, {best} is closest to uniform weights: {most} of its weight overlaps with them.",
    "effective_rank": "Of {heads}, the rows of {best} differ most from one another: they span about {most}.",
    "distance": "{first} looks farthest of {heads}: on average, {most} from query to key{sink}.",
}
SINK = ", as it attends to the first token"
WEIGHT = "{count} of {heads} put over half of their weight{where} on {keys}, {best} the most: {most}."
WEIGHT_ONE = "Of {heads}, only {best} puts over half of its weight{where} on {keys}: {most}."
WEIGHT_NONE = "None of {heads} puts half of its weight{where} on {keys}; {best} is closest: {most}."
WEIGHT_PART = "{first} puts {most} of its weight{where} on {keys}: the most of {heads}."
WEIGHT_ZERO = "None of {heads} puts any weight{where} on {keys}."
INDUCTION = (
    "{count} of {heads} act as induction heads here: on average over {again} repeated {unit}{s}, most of their weight is on "
    "the token after an earlier copy."
)
INDUCTION_ONE = (
    "1 of {heads} acts as an induction head: {best}. On average over {again} repeated {unit}{s}, {most} of its weight is on "
    "the token after an earlier copy."
)
INDUCTION_NONE = "None of {heads} acts as an induction head (with the settings of the model: {count})."
CHANGED = {  # before a finding, if settings are not those of the model
    "mask": "With this mask, {finding}",
    "scale": "With this scale, {finding}",
    "temperature": "With this temperature, {finding}",
}
CHANGED_ONE = "With this setting, {finding}"  # of any other
CHANGED_SEVERAL = "With these settings, {finding}"
ABSENT = {  # why no head puts weight on the keys of a statistic
    "separators": "This text has no separators, so there is nothing to rank.",
    "next": "Under this mask no {unit} sees the next one, so there is nothing to rank.",
    "duplicate": "No {unit} occurs twice, so there is nothing to rank.",
    "induction": "No {unit} occurs twice, so there is nothing to rank.",
    "preceding": "No passage occurs in reverse order, so there is nothing to rank.",
}
WHERE = {  # of which queries that is said, if not of all
    "induction": ", for tokens that occurred before,",
    "preceding": ", for tokens that occurred before,",
    "duplicate": ", for tokens that occurred before,",
    "next": ", for tokens that see the next one,",
    "separators": ", for tokens that see one,",
}
WHERE_ONCE, WHERE_FEW = ", for the one token that occurred before,", ", for the {count} tokens that occurred before,"
WHERE_VISIBLE = ", for {count} of the {all} repeated tokens,"
WHERE_SEE = ", for the {count} of {all} tokens that see it,"
SHARE_OF = "{label}: weight on {keys}"  # in the menu
ABOUT = "{label}: {about}"  # in the menu
MEANINGS = {  # of the other statistics, and of the map of what each head does
    "kinds": "the kind of token that gets over half of its weight",
    "entropy": "how spread out the rows are, in nats; it can grow with the number of visible keys",
    "entropy_share": "entropy as a share of its maximum, so that short and long rows compare",
    "effective_keys": "entropy as a number of keys: a uniform row over as many keys has the same entropy",
    "greatest": "weight of the top key of a row, mean over rows: high where entropy is low",
    "even": "share of the weight that overlaps with uniform weights (linear, unlike entropy)",
    "effective_rank": "how many different patterns the rows mix, computed from all rows together",
    "distance": "mean number of tokens between query and key",
}
COLOUR = "Colour by"
GROUPS = {  # of statistics, in the menu: what those of a group have in common
    "Pattern": ("induction", "previous", "next", "first", "same", "duplicate", "preceding", "separators"),
    "Spread": ("entropy", "entropy_share", "effective_keys", "even", "greatest"),
    "Position": ("distance",),
    "Variety": ("effective_rank",),
}
GROUPED = "{group}: {statistic}"
KINDS = "What each head does"  # in the menu, before all statistics
KIND_KEY = "{word}: {meaning}"
KINDS_CAPTION = "Blank: no single pattern."
KINDS_SEVERAL = " Paler, +: and another kind of token."
KINDS_FILE = (
    "A head is named after the kind of token that gets over half of its weight on average, and well above what uniform weights "
    "would give."
)
KINDS_HELP = f"{KINDS_FILE} The panel beside the map counts that kind for the selected head."
KINDS_FILE_TITLE = f"{KINDS}: {{source}}"
KINDS_FINDING = "{count} of {heads} attend mostly to {keys}{none}."
KINDS_EACH = "{count} of {heads} follow a pattern, each another one{none}."  # if none is more frequent
KINDS_ONE = "Of {heads}, one follows a pattern: it attends mostly to {keys}."
KINDS_NONE, KINDS_ONE_NONE = "; {count} follow no single pattern", "; 1 follows no single pattern"
KINDS_EMPTY = "None of {heads} follows a single pattern."
KINDS_ALT = "Heatmap by layer and head: what each head attends to"
IN_MENU = {  # in the menu, statistics whose label alone does not tell how they differ from others
    "induction": "induction (after a copy)",
    "same": "same token (or itself)",
    "duplicate": "earlier copy (duplicate)",
    "entropy": "entropy (nats)",
    "entropy_share": "normalized entropy (%)",
    "effective_keys": "effective keys (number)",
    "even": "uniformity (overlap)",
}
HELP_LINE = "- {statistic}: {about}"
WEIGHT_ON = "weight on {keys}"
TEXTS = {  # of sources whose text is no sentence: what it is
    "recorded:smollm2-repeated": "25 random words, three times{causal}.",
    "trained:induction": "Trained to predict the next of random letters that repeat: {tokens}",
    "trained:reverse": "Trained to repeat the letters before → in reverse order: {tokens}",
    "trained:sort": "Trained to repeat the numbers before → in ascending order: {tokens}",
    "trained:brackets": "Trained to predict the kind of each closing bracket: {tokens}",
    "trained:majority": "Trained to predict, after →, the most frequent colour: {tokens}",
}
TEXTS_CAUSAL = ": only earlier copies tell which word comes next"  # if no query sees later words
FRAMED = "Framed:"
WHOLE_ROWS = {  # how to see a statistic of rows in the map
    "entropy": "The wider the weight of a row is spread, the higher its entropy.",
    "entropy_share": "The closer a row is to uniform weights, the higher its normalized entropy.",
    "effective_keys": "The wider the weight of a row is spread, the more effective keys it has.",
    "even": "The closer a row is to uniform weights, the higher its uniformity.",
    "effective_rank": "The more rows differ, the higher the effective rank: on a diagonal, each has another key.",
    "distance": "The farther shaded cells are from the diagonal, the larger the distance.",
}
EXAMPLE = "{query} puts {weight} on {key}, which followed {before}."
LARGEST = "{query} puts {weight} on {key}{where}."
LARGEST_OF_ROW = "{query} puts its largest weight, {weight}, on {key}{where}."
LARGER = ", but {weight} on {key} (framed)."  # after any of these, if it is not the largest weight of its row
PLACES = {  # of the key, seen from the query
    "itself": ", itself",
    "first": ", the first {unit}",
    "back": ", {count} {unit}{s} back",
    "ahead": ", {count} {unit}{s} ahead",
}
TASK_TOKENS = {
    "trained:reverse": "letter",
    "trained:sort": "number",
}  # of tasks whose answer repeats tokens before the sign
TASK_ROWS = "From → on, {right} of {rows} rows attend most to the {token} that comes next{rises}."
TASK_DIAGONALS = {"trained:reverse": ": the rising diagonal"}  # if most rows do
TASK_FINDING = (
    "Of {heads}, {best} is the most focused: the largest weight of a row is {most} on average, and {right} of {rows} rows "
    "from → on attend most to the {token} that comes next."
)
TASK_ROLE = (
    "attends most to the {token} that comes next in {right} of {rows} rows from → on. No kind of token clearly gets most of its "
    "weight over all rows."
)
NEXT_IN_TASK = "{query} puts {weight} on {key}, which comes next."
REPEATS = "Lines: where repeats start."
KEYS = {  # that a statistic is the weight on
    "induction": "what followed an earlier copy of the token",
    "preceding": "what came before an earlier copy of the token",
    "duplicate": "earlier copies of the token",
    "previous": "the previous token",
    "next": "the next token",
    "first": "the first token",
    "same": "the same token, itself included",
    "separators": "separators",
}
ALL = "All"  # of these heads
ALL_HEADS = "these {count:,} heads"
HEADS_OF_SOME = "these {count:,} heads (from {layers} of {all} layers)"
HEADS_OF_SEVERAL = "these {count:,} heads (from {layers} layers)"  # if it is not known how many the model has
ROWS_RECORDED = "Rows: the {count} layers that are recorded{own}."
ROWS_CHOSEN = "Rows: the {count} of {depth} layers that are recorded, chosen for heads with a clear role{own}."
GAPS = "Double lines: layers in between are not shown."
OWN_SHOWS = " (a text of your own shows all)"
ROWS_OWN = "Rows: all {layers} layers; recorded texts show {count} of them."
CELL, CELL_OFF = "{head}: {value}", "{head}: {value}, switched off"
CELLS = "Each cell is a head: click one."
SEE = "[{head}: {statistic}. See its map ↓](#{anchor})"
SEE_MAP = "[{head}: see its map ↓](#{anchor})"  # if it has no value
STATISTIC = "Colour: {statistic}{meaning}."
STATISTIC_OF_WEIGHT = "Colour: weight on {keys}{uniform}."
UNIFORM = " (uniform weights: {share})"
MEAN_OVER = "The colour is the mean weight on {keys}{where}."
COLOURS_SPAN = "Colours span the values of these heads."
CELLS_BLANK = "Blank: under {limit}."
LIMIT = (
    "Cells have no number under a tenth of the scale, or under {ratio:g} times uniform weights, which can be by chance."
)
SHORT_ROLES = {  # by the first word of the name of a role, in the order in which they are listed: a word and its meaning
    "one": ("prev", "the token before"),
    "induction": ("ind", "what followed an earlier copy"),
    **{
        count: (f"{number} back", f"the token {count} before")
        for number, count in enumerate(
            ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 2
        )
    },
    "next": ("next", "the token after"),
    "first": ("first", "the first token"),
    "itself": ("self", "the token itself"),
    "same": ("same", "the same token"),
    "nearby": ("near", "tokens within 5 positions"),
    "uniform": ("even", "all tokens alike"),
    "random": ("rand", "random tokens"),
}
IGNORES_CASE = "Tokens that differ only in case count as the same."
CELLS_POINT = "Point at a cell for its value."  # of a map whose cells have no room for numbers
COUNTED = "The headline counts heads over 50%."
COUNTED_BOLD = "Bold: over 50%, as the headline counts."
BOLD = "Bold: the highest."  # if the headline counts no heads
FALLBACK = {  # why the map is not coloured by the statistic that comes first
    "zero": "“{usual}” is zero in all heads here: the map shows “{shown}”.",
    "short": "The text is too short for “{usual}”: the map shows “{shown}”.",
    "rare": "“{usual}” needs {enough} tokens that occurred before, and this text has {count}: the map shows “{shown}”.{split}",
    "few": "This text cannot tell “{usual}” from other patterns: the map shows “{shown}”.",
    "low": "No head stands out by “{usual}” here: the map shows “{shown}”.",
}
SPLIT_WORD = " The tokenizer splits one “{word}” into {parts}."
HIGHER = "Show “{statistic}”: a head is over 50%"
INSTEAD = "Show “{statistic}” instead"
NONE = "No head has a value: no query has a visible key, or the tokens have no texts."
HELP = "A text passes the layers in turn. Each cell is a head, coloured by one statistic; click one to select it on all pages."
OTHER_PATTERN = {  # by the pattern that is shown: the other one, and the label of its button
    "induction": ("previous", "Try: previous token"),
    "previous": ("induction", "Show: induction"),
}
OTHER_HEAD = {"previous": "Show a previous-token head", "induction": "Show an induction head"}  # if the map stays
TRY_HELP = "Shows the head of the layers shown that follows this pattern most."
ORDER = (  # of the layers of both kinds of heads, one or several induction heads
    "First come heads that attend to the previous token ({earlier}), then {heads} ({later}), which {find} what followed an "
    "earlier copy."
)
ONE_LATER, LATER_HEADS = ("an **induction head**", "finds"), ("{count} **induction heads**", "find")
LATER = "**Previous-token heads** (over 50%: {earlier}) come before **induction heads** ({later}{others}). "
CHOSEN = " The {count} layers shown, of {depth}, were chosen for heads with a clear role."  # after all of it
OTHERS_LATER = "; other previous-token heads: {layers}"
OTHERS_COME_LATER = " Other previous-token heads come later ({layers})."
IN_LAYERS = ("layer {layers}", "layers {layers}")  # one, several
HOW = "They can write into {key} that {query} came before it, so that a later {query} finds it."
HOW_KINDS = (
    "**Why in this order?** A previous-token head can write into {key} that {query} came before it, so that an induction head "
    "finds it from a later {query}."
)
HOW_ALL_KINDS = (
    "**Why in this order?** A previous-token head can write into each token which one came before it, so that an induction head "
    "finds it from a later copy of that one."
)
HOW_ALL = "They can write into each token which one came before it; a later copy of that one can then find it."
TOGETHER_FOLD = "How two heads work together"
TOGETHER_FIRST = "**1 · {head}** attends to the token before."
TOGETHER_SECOND = "**2 · {head}** finds what followed an earlier copy."
TOGETHER_MEANS = (
    "What the first head reads it can write into the vector of {key}. The keys of the second head are made from such vectors, so "
    "the query of {query} can look for “comes after this word”. The maps show what both attend to; that the one uses what the "
    "other wrote is known from experiments with such models (Olsson et al. 2022)."
)
TOGETHER_NONE = "No copy has enough weight to show."
BACK, BACK_HELP = "Back to SmolLM2", "The heads of a real model on random words that repeat."
EMERGE, EMERGE_HELP = "Watch one emerge", "The steps of a small training in which an induction head appears."
MOVE_STEP = "Move the training step: {what} between steps {before:,} and {after:,}."
INDUCTION_APPEARS = "induction heads appear"
BY_STEP_ALT = "Line: the highest value of a head on the statistic of the map, at each training step"
HIGH_APPEARS = "heads get over 50%"  # of the weight that the map shows
ONE_LAYER = "One layer: the row compares its {heads} heads. With several layers:"
MAP = "{heads}{source} over {tokens:,} {unit}s{other}. {help}"
HEADS = "{heads} heads"
HEADS_OF_LAYERS = "{count:,} heads, {heads} in each of {layers} layers{which},"
SOME_LAYERS = " ({layers} of its model)"
OF_SOURCE = " of “{source}”"
CROSS = " that attend to {keys:,} of another sequence"
DOES, IT_DOES = "**{head}** {role}", "It {role}"  # the second below the name of the head
PUTS = "puts {value} of its weight{where} on {keys}."
OVERALL = "{puts} Overall, it {role}"  # of a head with another role, which is a mean over other queries
RESTS = (
    "{puts} At all other {unit}s, it rests on the first {unit} (**attention sink**): {share} of its weight on average."
)
TOO_SHORT = "has no role here: in a text of {count} {unit}s, patterns cannot be told apart."
CROSS_ROLE = "attends to another sequence; roles are only defined for self-attention."
NO_ROLE = "follows no single pattern here: no kind of token clearly gets most of its weight."
NO_ROLE_NAME = "no single pattern"
MOSTLY = "puts over half of its weight on {keys}, where there is one"  # of a head without a role
SIGNED_MAP_ALT = "Heatmap by layer and {across}: {about}"
OPEN_LAYER = "Open layer {layer} → Heads"
OPEN_HEADS = "Open these heads → Heads"
STATISTICS = {  # of the selected head, in plain words
    "previous": "{value} on the previous token: {queries}",
    "first": "{value} on the first token: {queries}",
    "induction": "{value} on what followed an earlier copy: {queries}",
    "effective_keys": "{value} effective keys (mean of e^entropy)",
    "entropy": "entropy {value} nats",
}
QUERIES = "the {count} of {all} queries that see it"  # over which such a statistic is a mean
QUERIES_ALL = {"previous": "all queries but the first", "first": "all queries"}  # if the mask hides it from none
MEANS = "Means of this head, each over its own queries:\n\n{statistics}"
MEAN = "- {statistic}"
DIAGONALS = {  # by how often the text occurs
    2: "Diagonal: what followed the earlier copy.",
    3: "Diagonals: what followed each copy, one and two repeats back.",
}
USE = "Such heads let a model continue a name that it has read before."
COPIES = "Of the {places} repeated {unit}s, {right} most to what followed an earlier copy."
ATTEND = {0: "none attends", 1: "1 attends"}  # by their number; more: MANY_ATTEND
MANY_ATTEND = "{count} attend"
WITHOUT_COPY = "New words put {share} of their weight on {first}, an **attention sink**."
PLACE = "**{head}**  \n{statistic} · {place}"
HIGHEST, LOWEST, NTH = "highest of {count}", "lowest of {count}", "{nth} of {count}"  # by the statistic of the map
PREVIOUS, NEXT = "Previous", "Next"
PREVIOUS_HELP, NEXT_HELP = "The head with the next higher value", "The head with the next lower value"
BEFORE_HELP, AFTER_HELP = "The head before this one on the map", "The head after this one on the map"
EVEN_SCALE = "Colours: multiples of an equal share of the weight; 100 is a hundred times as much."
NO_VALUE = "{statistic}: none (no visible key)"

# Similar heads.
ALIKE_FOLD = "Similar heads"
ALIKE = "Heads are close when they weight the same keys similarly ({label}: {head}).{some}"
ALIKE_HELP = (
    "Distance: Jensen-Shannon divergence (base 2, so from 0 to 1) of two heads' weights for the same query, averaged over "
    "queries (Clark et al. 2019, section 6)."
)
ALIKE_SOME = " Only {count} of {layers} layers are compared: {first} to {last}, around the selected one."
ALIKE_NO_DISTRIBUTION = (
    "{why}, so rows are no distributions: there is no Jensen-Shannon divergence, and heads are not compared."
)
ALIKE_ONE = "There is only one head; comparing needs two."
ALIKE_EQUAL = "Under this mask no query has more than one visible key, so all heads are equal."
ALIKE_NONE = "No two heads are nearly equal. The closest: {one} and {two}, {distance} apart."
ALIKE_GROUPS = "Nearly equal (at most {limit} apart on average): {groups}{more}."
ALIKE_MORE_GROUPS = "; and {count} more groups"
ALIKE_SELECTED = (
    "The head most similar to {label} is {other}, {distance} apart; the mean over all other heads is {mean}."
)
ALIKE_LIST = "{first} and {last}"
ALIKE_MORE = "{heads} and {count} more"
ALIKE_MATRIX = (
    "Solid blocks are groups of similar heads: 0 apart are equal weights, 1 is no key in common. Blue frames: the "
    "selected head. Point at a cell for its two heads."
)
ALIKE_MATRIX_HELP = "Similar heads are next to each other: the order is that of average-linkage clustering."
ALIKE_MATRIX_ALT = "Heatmap by two heads: their distance, from 0 to 1"
ALIKE_MAP = "Near dots: similar heads."
ALIKE_MAP_HELP = (
    "Classical scaling of the distances to two dimensions, which keep {kept} of the variance. Only distances have a meaning "
    "here; their exact values are in the matrix."
)
ALIKE_MAP_ALT = "Points by head on a map of their distances, coloured by {statistic}"

# Two statistics.
TWO_FOLD = "Two statistics compared"
LAYER = "layer"  # that is what colours are
DOTS = (
    "Each dot is a head, coloured by {color}. The ring marks {label} ({head}). Dots have names where "
    "there is room: point at any other."
)
DOTS_CLICK = "Click one to select it."
TWO_HIGH = (
    "Over half of the weight: {across} of {heads} on {x}, {upwards} on {y}, {both} on both. Each is a "
    "mean over the queries that have such keys."
)
TWO_HIGHEST = "{best} has the highest value of “{y}” among {heads}: {most}. By “{x}”, it is {place}."
NO_HEADS = "none"
TWO_NONE = "Nothing to compare: no query has a visible key, or the statistic needs token texts."
TWO_ALT = "Points by head: {upwards} against {across}"

# The table and the file.
TABLE = "Table of all heads"
MEAN_WEIGHT = " of its weight on average."  # the end of the sentence of a role
NOT_COUNTED = "–"  # in place of a missing number
COLUMNS = {"layer": "Layer", "head": "Head", "does": "What it does"}
DOWNLOADS = "Downloads"
SAVE = "Save map of layers"
NO_MAP = "There is no map to save: no query has a visible key."
FILE_TITLE = "{statistic} of each head: {source}"
