"""The words of what the Model page shows of a language model's answer: next words, heads switched off."""

NEXT = "**Next words** after {token}"
FILLED = "**In place of {token}**, if it is hidden"
LOSSES = (
    "Loss of each token: minus the logarithm of the probability that the model gave it, in nats; mean {mean}. "
    "Darker: less expected."
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
CLEAR = "All on"
EVERY = "Try all heads in turn"
EVERY_HELP = "Runs the model once per head, with that head alone switched off."
RUNNING = "Running {model} without some heads."
RUNNING_EVERY = "Switching off each head of {model} in turn."
CANCEL_HELP = "It stops if no one views this page for {seconds:g} seconds."
NONE_OFF = "No head is off. Select one in the map above, or choose heads by layer.head."
WAYS = {
    "zero": "Zero",
    "mean": "Mean over the text",
    "resample": "Output on another text",
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
TABLE = "Probability of the next token after {token}: with all heads, and without"
LOSS_CHANGE = "Change of the loss per token, in nats. Orange: less expected without these heads; green: more."
COST = (
    "**{head} matters most for “{answer}” against “{against}”:** without it, the difference of their logits "
    "changes by {value}."
)
COST_MAP = (
    "Change of the difference of logits if a head alone is off. Orange: its absence hurts “{answer}”; green: it helps. Heads can "
    "stand in for each other, so costs of single heads do not add up."
)
METRICS = {"logit": "Logit difference", "probability": "Probability", "loss": "Mean loss"}
STOPPED = "Stopped before it was done."
