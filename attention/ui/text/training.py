"""The words of the Training page."""

FINDING = "After **{step}** steps: accuracy {accuracy}, loss {loss} nats (uniform guess: {guess})."
HELP = "Layer 0 reads the tokens, layer 1 the output of layer 0."
CHANGED = "Settings changed: the pictures below are of the training before."
CHANGED_LABEL = ":orange-badge[settings changed, not trained yet]"
TRAIN_CHANGED = "Settings changed: train ({time})"
