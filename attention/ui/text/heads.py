"""The words of the Heads page."""

WHAT = "Each token mixes in information from other tokens; a weight says how much it takes from each."
OWN = "The mask comes with this source; the mask setting has no effect."
GATE = " Weights are those before the output gate, which changes outputs alone."
NO_ROLE = "has no clear role: no kind of key gets half of its weight."
CHANCE = "is random: it has no built-in role."
LONG = "{done} of {heads} heads over {tokens} tokens are exact; the others are previews."
FORMULAS = "Point at a column title for its formula."
