"""The words of the sidebars that belong to no single knob, and the reasons why a knob has no effect."""

MORE = "More settings"

# Start.
OPENS_HEADS = "Move one to build your own heads (opens Heads)."
SIZES_HERE = (
    "Sizes of this picture. "  # before it; of an own sentence, whose words may be several tokens, they are near
)
THIS_HEAD = "Change this head"

# A picture.
ADVANCED = "Advanced"
D_HEAD = "Per head (d_head): {d_model:,} / {heads} = {d_head}"
NO_MULTIPLE = " ({chosen:,} is not a multiple of {unit})"
OF_THIS_MASK = " For this mask: {meaning}."
FIXED_SIZES = "**{source}:** {sizes}."
SIZES = {"tokens": "{size:,} {unit}s", "heads": "{size} heads", "d_model": "d_model {size:,}"}  # that a source fixes
ANY_SIZE = "Back to built heads"
ANY_SIZE_HELP = "Heads built from the settings here, with sliders for the sequence length, the heads and d_model."
LONG_SPAN = "Longer than the sequence: acts as {tokens:,}."
JOINED_MASKS = "In use: {masks}"  # of two masks that are combined
RESTORE = "As recorded"
RESTORE_HELP = "Restores the mask, the scale and all other settings of the source."
KV_HEADS = {0: "0: one per head", 1: "1: multi-query"}  # constant per option: Streamlit compares labels
CUT = "This page computes every weight, so it shows {shown:,} of {tokens:,} tokens. Heads shows all."

# The own text.
CONTROL_CHARACTERS = "Invisible control characters were removed from your text."
LONG_TEXT = "Your text has {characters:,} characters. It is part of the link, so only the first {kept:,} are kept."
UPLOAD_SHOWN = "You are viewing an uploaded file."
RECORDING_SHOWN = "You are viewing a recording."
OTHER_INPUT = "The input is “{input}”."
NO_TOKENS = "The text has no {unit}s, so each token is a dot."
FIRST_TOKENS = "Shown: the first {tokens:,} of {many:,} {unit}s."
REPEATED = "Repeated to fill {tokens:,} tokens."
USE_TEXT = "Use your text"
SAMPLE = "Sample text"
SHOW_ALL = "Show all {tokens:,}"
SHOW_ONCE = "Show it once"
LONGER = "Use a longer text"

# Models.
LISTED = (
    "Models of this server. Its owner can allow any model of the hub with ATTENTION_MODELS_FREE=on (docs/HOSTING.md)."
)
FREE = "Choose a model, or type the name of one on the hub, like google-bert/bert-base-uncased."
TYPE_MODEL = "Choose, or type a hub name"
CHOOSE_MODEL = "Choose a model"
MODEL = "{about}. At most {memory} of memory."

# A file.
READING = "**How the file is read.** Correct a wrong guess here."

# Timings.
SWEEP_ABOUT = "Tick several values to compare them."
SWEEP_ONE = "*Break-even* draws one mask and precision; the other charts compare several."
SWEEP_PUBLISHED = "16,384 tokens and 2,048 channels in all, as in the FlashAttention-2 and -3 papers."
ALL_VALUES = {"queries": "All tokens", "kv_heads": "As many as heads", "windows": "No window"}  # for 0
EVERY_VALUE = {"implementations": "All except compiled and published", "devices": "All"}
ONE_VALUE = "At least one"
ABSENT_DEVICE = "not on this machine"

# Why a knob has no effect.
NO_SPAN = "The mask {mask} has none."
NO_SINK = "The softmax “{softmax}” has no learned sink."
NO_SIGMOID = "The softmax “{softmax}” is no sigmoid."
NO_DIFFERENCE = "The softmax “{softmax}” subtracts nothing."
FORGETTING_NEEDS = "Forgetting needs the tokens between a query and a key."
FORGETTING_OFF = "Forgetting is off."
BATCH_FOLLOWS = "The batch follows from *Total tokens*."
