"""The words of the Training page."""

FINDING = "After **{step}** steps: accuracy {accuracy}, loss {loss} nats (uniform guess: {guess})."
NOT_LEARNED = (
    "After **{step}** steps the task is not learned: accuracy {accuracy}, loss {loss} nats, {than} a guess ({guess})."
)
THAN = ("below", "above")
HEADS = "What the heads learn"
HEADS_FAILED = "What the heads learn if training succeeds"
NO_HEAD = "No head does its part: {head} attends most to {told}, with {value} of its weight (uniform weights: {even})."
STILL = "The model has not learned to use it."
NO_HEAD_YET = "No head stands out yet."
SINK = "Its sink has the logit {}: e to this power is in the denominator of every row."
LAMBDA = "Its λ is {}: the second softmax, times λ, is subtracted from the first."
GATE = "Its gate is {} on average: the share of what it finds that it hands on."
TWO_EACH = (
    "These heads have two softmaxes each, with queries and keys of their own. Other pages show such heads for generated "
    "attention only: choose the softmax “differential” there."
)
ACCURACY_AFTER = "Accuracy after training"
LOSS_AFTER = "Loss after training (nats)"
HELP = "Layer 0 reads the tokens, layer 1 the output of layer 0."
CHANGED = "Settings changed: the pictures below are of the training before."
CHANGED_LABEL = ":orange-badge[settings changed, not trained yet]"
TRAIN_CHANGED = "Settings changed: train ({time})"
