"""The words of the Softmax page."""

ROW = "{query} in head {head} gives {weight} of its weight to {key}."
ROW_ALONE = "{query} in head {head} weighs {key} by {weight}, the most of a row that sums to {sums}."
BLIND = "{query} is fully masked: all its weights are zero."
NO_SCORES = "This source has weights only; the scores before the softmax are unknown."
FINDINGS = {
    "all": "{name} turns scores into weights: {signs}, and {sums}.",
    "scaling": "Dot products grow with √d_head; dividing by it keeps a softmax from choosing one key by chance.",
    "precision": "Fewer bits round scores and weights: one head in each number type, against float64.",
    "positions": "A position rule changes scores by how far a key is from its query.",
}
SIGNS = ("none is negative", "some may be negative")
HELP = (
    "{name} turns scores into weights. ${formula}$, here with scale {scale}, "
    r"temperature T = {temperature}, d\_head = {d_head}."
)
