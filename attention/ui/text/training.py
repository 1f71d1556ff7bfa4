"""The words of the Training page."""

FINDING = "After **{step}** steps, the model predicts {accuracy} of {counts} correctly; before training, {before}."
FOUND = "After **{step}** steps, {heads} {finds}; the model gets **{accuracy}** right (before: {before})."
FINDING_HEADS = "{count:,} heads find", "a head finds"
FINDS = {  # by task: what a head attends to that predicts the next token, if uniform weights do not attend to it as well
    "induction": "what came next last time",
    "reverse": "the letter to repeat next",
    "sort": "the next larger number",
    "brackets": "the bracket to close next",
}
UNTRAINED = "Before training, the model predicts {accuracy} of {counts} correctly; a uniform guess, {chance}."
NOT_LEARNED = (
    "After **{step}** steps the task is not learned: accuracy {accuracy}, loss {loss} nats, {than} a guess ({guess})."
)
THAN = ("better than", "worse than")
HEADS = "What the heads learn"
HEADS_FAILED = "What the heads learn if training succeeds"
NO_HEAD = "No head does its part: {head} attends most to {told}, with {value} of its weight (uniform weights: {even})."
STILL = "The model has not learned to use it."
NO_HEAD_YET = "No head stands out yet. Watch for one whose weight moves to {told}."
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
CHANGED_LABEL = ":orange-badge[Settings changed, not trained yet]"
TRAIN_CHANGED = "Settings changed: train ({time})"

# The step that is shown.
EARLIER = "Show earlier steps"
EARLIER_HELP = "Stays at this step and shows a slider over the earlier ones. Training continues."
STEP_SHOWN = "Step shown{done}"
TRAINING_AT = " (training is at {done:,} of {steps:,})"
LATEST = "Show latest step"
PLAY, PLAY_ALL, PAUSE = "Play", "Play from the start", "Pause"
STEP_PLAYED = "Step {:,}"
STEP = "Step"
SPEED = "Speed"
TRAIN = "Train: {steps:,} steps"
TRAIN_AGAIN = "Train again ({time})"
TRAIN_HELP = "Trains this model on the server, in about {time}. Visitors with the same settings share one training."
PREVIOUS = "{head} puts {value} on the previous token."
OWN = "{head} puts on average {value} of its weight on {told} (uniform weights: {even})."
TWO_LAYERS = (
    "**{first}** looks one letter back ({before} of its weight). **{second}** finds what followed the current letter earlier "
    "({value})."
)
CHOSEN = "The selected head, **{head}**, puts {value} of its weight on {key}{next}."
CHOSEN_NEXT = " and {value} on {key}"
NEEDED = "Without {first}, accuracy falls from {whole} to {rest}{both}."
NEEDED_BOTH = "; without {other} as well, which has {value} of its weight on the previous token, to {both}"
STRIP = "Below, “{next}” follows each earlier “{last}”, so it comes next again."

# The training.
STOP = "Stop"
STOP_HELP = "Ends the training and keeps its steps. Otherwise it ends {seconds:g} seconds after you leave the app."
RECORDED_LABEL = ":green-badge[Recorded training]"
UNTRAINED_LABEL = ":orange-badge[Untrained, random weights]"
LABELS = {
    "done": ":green-badge[Trained here]",
    "failed": ":blue-badge[Training failed]",
    "live": ":blue-badge[Training]",
    "stopped": ":blue-badge[Stopped]",
}
LOST = "The recording of this training can't be shown: {why}. You can train it here."
TOO_LARGE = "{why} Reduce steps, layers, heads or channels."
USE_STEPS = "Use {steps:,} steps"
USE_CHANNELS = "Use {channels} channels"
LASTS = "Training: about {time}, longer on a busy server."
STOPPED = "Stopped after {done:,} of {steps:,} steps{why}. These steps are kept."
STOPPED_LEFT = ", {seconds:g} seconds after its last viewer left"
TRAINED = "Trained here in {time}."
GOES_ON = "You can open other pages: training continues as long as the app is open."
GOING = "{done:,} of {steps:,} steps{speed}. Step {step:,}: loss {loss}, accuracy {accuracy}."
GOING_SPEED = ", {rate:,.0f} steps per second"
OTHER = "Your training of {task} with other settings continues: {share:.0%}."
SHOW_OTHER = "Show training"
STOP_OTHER = "Stop training"

# The curves, and two trainings that fail.
FAILURES = "Two trainings that fail"
FAILURES_HELP = "Both are of induction; the first has one head per layer. All other settings are defaults."
FAILURE_SCALE = (
    "Train without scaling",
    "One head of 64 channels per layer. With scores divided by 8, the square root of 64, it learns induction within 300 steps. "
    "Without, the softmax is saturated from the start and passes hardly any gradient: rows stay on one key, and heads form late "
    "or not at all.",
)
FAILURE_RATE = (
    "Train with a learning rate of 1",
    "Each step overshoots. The loss climbs to more than ten times that of a uniform guess, heads briefly concentrate on "
    "single keys, and the learning rate decays too late for the task to be learned.",
)
PROGRESS = "Accuracy on test sequences. The loss at this step is {loss} nats."
PROGRESS_HELP = (
    "A step changes the embeddings, W_q, W_k, W_v and W_o so that the loss falls. A uniform guess has a loss of {guess}. "
    "Its axis below is linear up to 5 nats; if it is longer, it is logarithmic above 1."
)
PROGRESS_ALT = "Line chart of the accuracy by training step"
LOSS_ALT = "Line chart of the loss by training step"
CURVES = "Mean weight on {statistic}, by head{lines}. L1H2: layer 1, head 2."
CURVES_ALONE = "Mean weight on {statistic}, by head."
CURVES_OF = "Mean weight of each head on this token"
CURVES_FOLD = "Loss, and when each head forms"
PILLS = {
    "own": "answer",
    "previous": "previous token",
    "induction": "after copy",
    "same": "same token",
    "first": "first token",
}
WEIGHT_ON = "weight on {key}"
KEYS = {
    "own": "the answer",
    "previous": "the previous token",
    "induction": "the token after a copy",
    "same": "the same token",
    "first": "the first token",
}
LINES = "; layer 0 solid", "layer 1 dashed", "layer 2 dotted"
CURVES_HELP = "Weight on {statistic}: {formula}. Heads below {high} have no name.{earlier}"
CURVES_EARLIER = " Weight on {statistic}: {formula}."
CURVES_GREY = " Wide grey line: the largest weight of a head in layer 0 on {statistic}."
CURVES_ALT = "Line chart of the weight of every head on {statistic} by training step"

# Other pages.
OTHER_PAGES = "**Open these heads on other pages.**"
OTHER_PAGES_LATER = "During and after training, the heads of any step can be opened on the other pages."
OTHER_PAGES_STEP = (
    "The step shown is available during this visit only; links can't contain it. A link to this page contains the settings, with "
    "which the model can be trained again."
)
OPEN_ON = "Open on {page}"
SOURCE = "{task}, trained here"
WITHOUT, MANY_OFF = "With and without {heads} → Heads", "{count} heads"
SOURCE_OFF = "{source}, {off}"
SOURCE_STEP = "{task} after {step:,} steps"
SOURCE_WHAT = "Queries and keys of “{task}” after {step:,} of {steps:,} steps, trained here.{gated}"
SOURCE_GATED = (
    " The model multiplies the output of each head by a gate, which is not part of this source: weights are those before the "
    "gate."
)

# Questions to the trained model, and its files.
SWITCH_OFF = "Switch heads off: which does the model need?"
SWITCH_OFF_HELP = "Results are for the trained model, whichever step is shown."
REPLACED_HELP = (
    "Zero also takes away what a head adds to every token. The mean keeps that and removes what differs between tokens. "
    "Another sequence keeps usual outputs, about other tokens."
)
THREE_WAYS = (
    "Loss without these heads: {zero} with zeros, {mean} with means, {resample} with outputs on another sequence. Zeros and "
    "means differ by what the heads add to every token alike; outputs on another sequence can also mislead later layers."
)
POINTS = "{change} points"
EVERY = "Every head in turn"
EVERY_PAIR = "Every head and every pair"
EVERY_HELP = (
    "Switches each head off in turn, and each two if there are eight at most, and measures the loss on test sequences."
)
MEASURING = "{done} of {count} measured"
ALONE = "**{head} matters most alone:** without it, the loss rises by {cost} nats."
PAIR = "**{one} and {two} stand in for each other:** without both, it changes by {both}; without one, by {first} or {second}."
NO_PAIR = "No two heads stand in for each other: no pair costs more than its heads cost one by one."
COST = "Change of the loss (nats)"
PAIRS_AXIS = "layer.head →"
COSTS_AXIS = "head →"
PAIRS_MAP = "Change of the loss in nats without two heads; on the diagonal, without one. Green: the model needs them."
COSTS_MAP = "Change of the loss in nats without a head, by layer (rows) and head. Green: the model needs it."
TRY = "Try a sequence: what does the model predict?"
TOKENS = "Tokens, separated by spaces"
TOKENS_HELP = "Sequence that the model continues. Known tokens: {known}"
TOO_LONG = "Only the first {most} tokens are used: {why}."
LEARNED = "the model has learned no further positions"
SHORTER = "training sequences are shorter"
UNKNOWN = "Unknown tokens: {unknown}. The model knows: {known}."
TOO_SHORT = "Enter at least two tokens."
PREDICTS = "After “{last}”, the model predicts **{next}** with probability {probability}{without}."
WITHOUT = ", without {heads}"  # that are switched off
OFF = "{head} (off)"
PREDICTIONS = ("position", "token", "prediction", "probability", "correct")
ATTENDS = ("head", "attends to position", "token", "weight")
DOWNLOADS = "Open on other pages, download"
FILES = "**Download the training.**"
WEIGHTS = "Weights (.safetensors)"
RUN = "Run (.json)"
PROGRAM = "Program (.py)"
PROGRAM_HELP = "Downloads plain PyTorch that trains the same model from the same seed."
