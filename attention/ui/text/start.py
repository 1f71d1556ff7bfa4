"""The words of the Start page."""

TITLE = "What does attention do to a word?"
FINDING = "{query} puts **{weight}** of its weight on {key}."
ITSELF = "{query} puts **{weight}** of its weight on itself."
MOST = "{query} puts the largest part of its weight, **{weight}**, on {key}."  # if that is less than half
MOST_ITSELF = "{query} puts the largest part of its weight, **{weight}**, on itself."
WEIGHED = (
    "{query} has its largest {visible}score{score} with {key}, and so its largest weight, **{weight}**{temperature}."
)
WEIGHED_ITSELF = (
    "{query} has its largest {visible}score{score} with itself, and so its largest weight, **{weight}**{temperature}."
)
VISIBLE = "visible "  # if the mask hides keys, as hidden ones may have larger scores
SCORED = ", {score},"  # at temperature 1
AT_TEMPERATURE = " at temperature {temperature}"
TAKES = "{query} gets a mix of values, in which that of {key} has the largest weight, **{weight}**{temperature}."
TAKES_ITSELF = "{query} gets a mix of values, in which its own has the largest weight, **{weight}**{temperature}."
MOVES = "this head moves {query}{little} most towards **{closer}**{after}."
LITTLE = " a little,"  # if the change of the cosine is small
AFTER_TOO = ", which is closest after all six layers"
AFTER_OTHER = "; after all six layers, {last} is closest"
MOVES_LITTLE = "this head hardly moves {query} towards any of these words."
MOVES_AWAY = "this head moves {query} a little away from each of these words."
WITH_SETTINGS = "With these settings, {said}"
NOTHING = "{query} has no visible key: every token is masked, so its weights are zero."
BADGE = ":green-badge[Computed by a trained model: MiniLM, layer 0, head 4]"
SHORT = {"account": "She opened an account at the bank …"}  # for the choice of a sentence
OWN_BADGE = ":green-badge[A trained model on your sentence: MiniLM, layer 0, head {head}]"
OWN_PROVENANCE = (
    "A learned head: layer 0, head {head} of MiniLM, a sentence encoder, which has read your sentence on this server."
)
CHANGED = ":orange-badge[MiniLM, layer 0, head {head}, not as trained: {settings}]"
MANY_CHANGED = ":orange-badge[MiniLM, layer 0, head {head}, not as trained: {count} changes]"
SETTINGS = " Not as trained: {settings}."
SIZES = " This picture: {tokens} tokens. MiniLM: {heads} heads of {d_head} channels per layer, d_model {d_model}."
PROVENANCE = (
    "A learned head: layer 0, head 4 of all-MiniLM-L6-v2, a sentence encoder of 72 heads, recorded on these sentences."
)
OTHER_HEADS = (
    " From “bank”, {river} of the {heads} heads have their largest weight on “river” in one sentence, {account} on “account” in "
    "the other, and {found} in both: the other {others} do not."
)
OTHER_TERMS = {  # by step, those that it does not use
    "look": ("value", "score", "softmax", "feed-forward layer", "cosine"),
    "weigh": ("value", "feed-forward layer", "cosine"),
    "take over": ("score", "softmax"),
}
STEPS = {"look": "Look", "weigh": "Weigh", "take over": "Combine"}
NUMBERED = "{number} · {step}"  # unless a card of the path has its own number
LOOK = "**Attention** mixes information from {tokens} into each one. A **weight** is the share of one token in the mix."
ALL_TOKENS, VISIBLE_TOKENS = "all tokens", "visible tokens"
TOKENS = (
    "A **token** is a word, a part of one or a punctuation mark; the model adds [CLS] and [SEP], which often take spare "
    "weight."
)
ROWS = " Each **row** of the map is a token: its weights on {tokens}, itself included, sum to 100%."
AS_TRAINED = "**As trained,** {query} puts {weight} of its weight on {key}."
AS_IF = {  # what a mask for several texts means for a single sentence
    "padding": "It is as if the last {span} tokens were padding. ",
    "documents": "It is as if every {span} tokens were a document. ",
}
COMPARE = "**Try it:** switch between the two sentences above, and see what “{word}” attends to in each."
BACK_TO = "**Try it:** click other tokens, too."
TRAINED = (
    "MiniLM was fine-tuned on pairs of sentences, to give those that belong together similar vectors. Its weights "
    "show what a head reads, not what the model understands."
)
EXPECTED = (
    "This **head** was picked: of the model's {heads}, it is the only one whose largest weight from “{word}” is on “{expected}” "
    "here and on “{other}” in the other sentence."
)
UNDERSTOOD = (
    "**A weight shows what a head reads, not what the model understands:** meaning comes from all heads and feed-forward "
    "layers."
)
OWN_FIRST = "{query} is selected: its weight on {key} is the largest that a word here puts on a different one. "
OWN_LOOK = (
    "This head was chosen for “bank” in the two sentences above. In yours it may show little, and other heads more."
)
OWN_PARTS = " A token with “{mark}” continues a word."
OWN_IN_LINK = "Your sentence is part of the link of this page."
OWN_NOT_COMPARED = "**What {query} becomes** can't be shown: it sees no other whole word to compare it with."
OWN_NO_VECTORS = (
    "**What {query} becomes** can't be shown: this server's MiniLM does not give the vectors that it takes."
)
OWN_COMPARED = "Show it for “{word}”"
OWN_HEADS = "Open on Heads, with all heads"
OWN_MODEL = "Open on Model, with all layers"
OWN_BLANK = "There is no word in the sentence. Type one or more, then press Enter."
OWN_LONG = (
    "This text is too long: Start has room for {most} tokens, about 25 words. Shorten it, or run it on Model. Until then, Start "
    "shows “{shown}”"
)
OWN_MANY = "This sentence has {tokens} tokens; Start has room for {most}. Shorten it, or open it on Heads."
AS_RECORDED = "{said} That was found with the model's own settings, not with those that are set now."
SHARPEN = "A **temperature** divides all scores:"
WEIGH = (
    "Learned matrices give each token a **query** q, what it looks for, and a **key** k, what it offers: {d_head} numbers each. "
    "q\u00a0·\u00a0k is the sum of their products:"
)
STRIPS_HELP = "Green is above zero, brown below; the fuller, the larger. Point at a cell for its number."
QUERY_ROW, KEY_ROW, PRODUCTS_ROW = "q of {token}", "k of {token}", "products"
PRODUCTS_ALT = "Heatmap: the query, the key and their products, channel by channel, which sum to {sum}"
SCORED_BY = "The **score** is q\u00a0·\u00a0k{scaling}. {softmax}"
SCALING = {"1/sqrt(d_head)": "\u00a0/\u00a0√{d_head}", "1/d_head": "\u00a0/\u00a0{d_head}", "none": ""}
WHY = "Why divide by √{d_head}?"
WHY_ROOT = (
    "q · k sums {d_head} products, random before training. If each were ±1, they would partly cancel: the sum would be about "
    "√{d_head} ≈ {root:.1f}. Divided by √d, it is about 1 for any width d."
)
SCALES = {"none": "none", "1/sqrt(d_head)": "1/√{d_head}", "1/d_head": "1/{d_head}"}  # by increasing divisor
SCALE_EFFECT = "{scale} · {weight}"
LARGEST = "Largest weight at each **scale** (uniform: {uniform}):"
SATURATED = " At **{scales}**, the softmax is saturated: weights hardly change with scores, so q and k hardly learn."
DERIVATIVE = "The derivative of a weight p with respect to its own score is p(1 − p), almost 0 if p is close to 0 or 1."
SOFTMAX = "The **softmax** divides each exp(score) by their sum."
MASKED = " Masked tokens get no weight."
SCORES = (
    "| {query} and | {tokens} | all {visible} |\n| --- | {rule} | --- |\n"
    "| q · k | {products} | |\n| {scaled} | {scores} | |\n"
)
EXPONENTIALS = "| exp | {exponentials} | {total} |\n| weight: ÷ {sum} | {weights} | 100% |"
POWER = "{number}\u00a0×\u00a010{exponent}"
SUM = "sum"  # in place of a power of ten, which would be too wide
SCALED = {"1/sqrt(d_head)": "÷ √{d_head}", "1/d_head": "÷ {d_head}", "none": "÷ 1"}
SCORE = "score: {scaled}"
DIVIDED = "{scaled}, ÷ {temperature}"  # no longer the score
TEMPERATURES = {0.5: " · sharper", 1.0: " · as trained", 4.0: " · more even"}  # while nothing else is changed
UNCHANGED = {1.0: " · unchanged"}  # in its place once the mask or the scale is changed
ROW = "With equal scores, each of the {visible} tokens would get {uniform}."
TAKE_OVER = (
    "Each token passes on a vector, its **value**. The head adds up the values, each times its weight; a learned matrix turns "
    "the sum into what is added to the vector of {query}."
)
MIX_ALT = "Heatmap: the values with the largest weights, each times its weight, channel by channel, and their sum"
PART, OTHERS, SUM_ROW = "{share} × {token}", "{count} more", "sum"
COMBINED = "**Which words does {query} move towards?** {here} are from this sentence."
WITHIN_ONE = "**Does {query} move towards {word}?** It is the only other whole word that it sees."
WITHIN = (
    "**Which words does {query} move towards?** Compared: the two words with its largest weights, and content words."
)
COSINE = "A cosine of 1 is the same direction. "
MOVED = "**This head alone:** most towards {closer} ({change})."
MOVED_ONE = "**This head alone** changes their cosine by {change}."
STEP_ALT = "Bars per word: by how much this head alone changes the cosine similarity of the selected token to it"
LAYERS_ALT = "Points per word: its cosine similarity to the selected token before the head and after all layers"
NOT_TOWARDS = " Its largest weight adds the value of {key}, which need not point towards that word."
MOVED_AWAY = "**This head alone** moves it away from each of them, most from {farther} ({change})."
MOVED_TO_NONE = "**This head alone:** hardly towards any of them; most away from {farther} ({change})."
MOVED_TOO_LITTLE = (
    "**This head alone** moves it too little to tell: by less than {least} towards or away from each word."
)
AS_READ = "As the head reads them; it changes them as well."
AFTER_ALL = "Before the six layers, the closest of these is {first} ({before}); **after them, {last}** ({cosine})."
STILL_CLOSEST = "**After all six layers,** the closest of these is {first} ({cosine}), as before ({before}){gain}."
AFTER_ALL_ONE = "**After all six layers,** the cosine to {last} is {cosine}; before them, it is {before}."
GAINS_MOST = "; {most} gains most"
WITH_ALL = "With all heads and feed-forward layers."
ALL_RISE = "The cosine rises for every word: most for {most} ({most_by}), least for {least} ({least_by})."
NEXT = {"weigh": "Go to step 2", "take over": "Go to step 3"}
ONWARD = "Next: Heads"
LIMITS = "Does a head understand words? An example that says no"
RIDDLE = (
    "*The animal didn't cross the street because it was too tired.* In layer 3, head 1 of MiniLM, “it” puts {tired_animal} "
    "of its weight on “animal” and {tired_first} on [CLS]: it seems to know who was tired. But make the street *too wide*, and "
    "“animal” gets {wide_animal}, [CLS] {wide_first} and “street” only {wide_street}: it doesn't find what was too wide."
)
RIDDLES = {"tired": "… too tired, on Heads", "wide": "… too wide, on Heads"}
LEARN = (
    "Learn in 30 minutes",
    "Examples",
    "For students and classes: twelve pictures, each with a question.",
)
EXPLORE = (
    "Explore a real model",
    "Model",
    "For the curious: all 72 heads of a real model on one sentence, or heads from your own file.",
)
CHECK = (
    "Check the code",
    "Implementations",
    "For engineers: what published code computes, step by step, and where it differs from PyTorch.",
)
CODE = "A green badge below a picture says how close its numbers are to those of PyTorch or of a definition in float64."
