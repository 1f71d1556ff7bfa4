"""The words of the Training page."""

FINDING = "After **{step}** steps: accuracy {accuracy}, loss {loss} nats (uniform guess: {guess})."
HELP = "Heads are numbered by layer and head: 1.3 is head 3 of layer 1. Layer 0 reads the tokens, layer 1 the output of layer 0."
