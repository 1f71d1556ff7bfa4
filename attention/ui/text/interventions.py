"""The words of what the Model page shows of a language model's answer: next words, heads switched off."""

NEXT = "**Next words** after {token}"
FILLED = "**In place of {token}**, if it is hidden"
LOSSES = (
    "Loss of each token: minus the logarithm of the probability that the model gave it, in nats; mean {mean}. "
    "Stronger colour: less expected."
)
APPEND = "Next token"
APPEND_HELP = "Appends one token to the text and runs the model again, so that every head gets a row more."
ENDS = "The model ends the text here."
BROKEN = "The next token is only part of a character, so it can't be appended to the text."
FULL = "The text is as long as the field allows."
PAIR = "Tokens are appended to a single text; remove the second one."
SPLIT = "The tokenizer splits the longer text in another way, so earlier tokens have changed too."
LONG = "What it would put in place of a token is shown for texts of up to {most} tokens."
SIMILARITY = (
    "**Similarity of the two texts: {value}.** Cosine of the means of their last hidden states, each text read alone. "
    "It means something for models trained for it, as MiniLM."
)

OFF = "Switch heads off"
OFF_ABOUT = "What the answer loses if heads add nothing, only their mean, or what they add to another text."
SWITCH = "Switch off layer {layer}, head {head}"
SWITCH_ON = "Switch on layer {layer}, head {head}"
SWITCH_HELP = "Runs {model} again without this head, or with it. Its own map stays; those of later layers change."
IS_OFF = (
    "**Layer {layer}, head {head} is off.** Its weights are still computed, but its output is not used: "
    "only later layers change."
)
CLEAR = "All on"
EVERY = "Try all heads in turn"
EVERY_HELP = "Runs the model once per head, with that head alone switched off."
RUNNING = "Running {model} without some heads."
RUNNING_EVERY = "Switching off each head of {model} in turn."
CANCEL_HELP = "It stops if no one views this page for {seconds:g} seconds."
NONE_OFF = "No head is off. Select one in the map above or switch it off there, or type heads as layer.head."
HEADS_OFF = "Off: {heads}."
HEADS_OFF_COST = (
    "Off: {heads}. The logit of “{answer}” minus that of “{against}” goes from {before} to {after}; more under “Switch heads "
    "off”."
)
WAYS = {
    "zero": "Zero",
    "mean": "Mean over the text",
    "resample": "Output on another text",
}
WAY_TELLS = {
    "zero": "Zero also takes away what a head adds to every token, so it often costs most.",
    "mean": "The mean keeps what a head adds to every token, and takes away what differs between tokens.",
    "resample": (
        "Outputs on another text are of the usual kind. What depends on this text is gone, and what they say instead can mislead "
        "later layers."
    ),
}
WAY_HELP = (
    "They disagree. Zero also takes away what a head adds to every token, and later layers get inputs that never occur in use: "
    "it often costs most. The mean keeps that constant part and removes what differs between tokens. Another text keeps usual "
    "outputs and removes what depends on this text; a head that does the same on both texts costs nothing."
)
EFFECT = (
    "**Without {heads}:** the logit of “{answer}” minus that of “{against}” goes from {before} to {after}; the mean loss from "
    "{loss} to {without} nats."
)
MAPS_LAYERS = "Maps with and without them → Layers"
MAPS_HEADS = "Heads of layer {layer}, B − A → Heads"
NO_MAPS = "No later layer has heads, so all maps stay as they are."
TABLE = "Probability of the next token after {token}: with all heads, and without"
LOSS_CHANGE = "Change of the loss per token, in nats. Orange: less expected without these heads; green: more."
COST = {
    "logit": (
        "**{head} matters most for “{answer}” against “{against}”:** without it, the difference of their logits "
        "changes by {value}."
    ),
    "probability": "**{head} matters most for the probability of “{answer}”:** without it, that changes by {value}.",
    "loss": "**{head} matters most for the whole text:** without it, the mean loss changes by {value}.",
}
COST_MAP = {
    "logit": (
        "Change of the difference of logits if a head alone is off. Orange: its absence hurts “{answer}”; green: it helps. Heads "
        "can stand in for each other, so costs of single heads do not add up."
    ),
    "probability": (
        "Change of the probability of “{answer}”, in percentage points, if a head alone is off. Orange: its absence hurts "
        "“{answer}”; green: it helps. Costs of single heads do not add up."
    ),
    "loss": (
        "Change of the mean loss, in nats, if a head alone is off. Orange: its absence hurts; green: it helps. Costs of single "
        "heads do not add up."
    ),
}
UNITS = {"logit": "", "probability": "points", "loss": "nats"}
NO_LOSS = "A text of one token has no loss: nothing predicts the first token."
MEASURES = {
    "logit": "the difference of logits changes by {value} ({share} of the largest change)",
    "probability": "the probability by {value} ({share})",
    "loss": "the mean loss by {value} ({share})",
}
MEASURES_DISAGREE = "**The measures disagree most about {head}.** Without it, {said}."
OTHER_WAYS = "Try the other ways as well"
WAYS_DISAGREE = "**The three ways disagree most about {head}.** Change of the {measure} without it: {said}."
WAYS_RUN = "Compare the three ways for layer {layer}, head {head}"
WAYS_RUNNING = "Switching one head of {model} off in three ways."
WAYS_TABLE = "What changes **without {head}**, in each of the three ways: “{answer}” against “{against}”."
WAY, HEAD = "Way", "Head"
NO_RESAMPLE = "The other text has fewer tokens than this one, so its outputs can't replace those of this text."
METRICS = {"logit": "Logit difference", "probability": "Probability", "loss": "Mean loss"}
STOPPED = "Stopped before it was done."

PARTS = "What each part adds to the answer"
PARTS_ABOUT = (
    "The logit is a sum: of what each head, each MLP, the embeddings and the biases write straight to the output, with the scale "
    "of the last norm held as it is. What a head changes through later layers is not in its own part."
)
PARTS_RUN = "Split the logit"
PARTS_RUNNING = "Splitting the logit of {model}."
SUM = (
    "**“{answer}” minus “{against}”: {logit}** = heads {heads} + MLPs {others} + embeddings {embeddings} + biases {biases}. "
    "The sum differs from the model's own logits by {error}."
)
PARTS_MAP = (
    "Green: adds to “{answer}” over “{against}”; orange: takes away. Colours end at the largest head; click one."
)
SOURCES = "What layer {layer}, head {head} adds per token that it attends to: the weight times what the value writes."
LENS = (
    "**Logit lens.** What the model would say after “{token}” if the last norm and the output layer came right after a layer. "
    "Early layers were not trained to be read in this way."
)
LENS_COLUMNS = ("After", "Most probable", "Probability", "Probability of the final answer", "Entropy (nats)")
START = "Embeddings"
MLP = "MLP"
LAYER = "Layer {layer}"

PATCH = "Patch a second text"
PATCH_ABOUT = (
    "The model reads a corrupted text; one of its values is replaced by that of the clean text. The map shows how much of the "
    "logit difference returns: 0 as on the corrupted text, 1 as on the clean one."
)
PATCH_RUN = "Patch each in turn"
PATCH_RUNNING = "Patching {model}."
PAIR_TEXTS = "Clean: {clean}  \nCorrupted: {corrupted}"
PATCHED = (
    "**Most returns at {where}: {value}.** “{answer}” minus “{against}” is {clean} on the clean text and {corrupted} on the "
    "corrupted one."
)
PATCH_MAP = "Green: this part of the difference returns; orange: it moves away. Rows are layers; columns are {columns}."
COLUMNS = {"heads": "heads", "residual": "positions"}
NO_CORRUPTED = "Type a corrupted text, or choose one of the pairs."
