"""The words of the Layers page."""

FINDING = "{head} has the highest “{statistic}” of all {count} heads: {value}.{others}"
OTHERS = " These stand out too: {heads}."
HIGHER = "No head is high here. Show “{statistic}”"
NONE = "No head has a value: no query has a visible key, or the tokens have no texts."
HELP = "Each cell is a head, coloured by one statistic. Click a cell to select its head on all pages."
