"""The words of the Softmax page, positions."""

MODELS = "**Load the positions of a published model:**"
MODEL_HELP = "Sets the positions, and d_head to {d_head}. From {where}."
SOURCES = "Models and their sources"
MODEL_TABLE = {  # label and help of the columns of the models
    "model": ("Model", ""),
    "d_head": ("d_head", ""),
    "positions": ("Positions", ""),
    "rotary_base": ("Base", ""),
    "rotary_fraction": ("Rotated channels", "Fraction of the channels of a head."),
    "rotary_scaling": ("Scaling", ""),
    "rotary_factor": ("Factor", ""),
    "rotary_length": ("Original length", ""),
    "source": ("Source", ""),
}

WAVELENGTHS = (
    "**Wavelengths**: one point per pair of channels. Those below the solid line make a full turn in training."
)
SCORES = "**Score by distance** of a query and a key whose channels are all equal: the effect of positions alone."
ALTS = {
    "wavelengths": "Points by pair of channels: tokens in a full turn, as trained and scaled, beside the original length",
    "scores": "Lines by distance: the score of a constant query and key, as trained and scaled",
    "biases": "Lines by distance: what each head adds to the logit",
}
EVERY_PAIR = "Every pair"
NUMBERS = "Numbers to compare other code with"
TABLE = {  # label and help of the columns of every pair
    "pair": ("Pair", "Channels j and j + m of a head, where m pairs are rotated."),
    "wavelength": ("Full turn", "Tokens in which the pair makes a full turn, as trained."),
    "turns in training": ("Turns in training", "Full turns within the original length."),
    "kept": (
        "Share kept",
        "Share of the pair that rotates as in training; the rest rotates more slowly by the factor.",
    ),
    "scaled wavelength": ("Full turn, scaled", "Tokens in which the pair makes a full turn with the scaling."),
    "turns at the distance": ("Turns at distance", "Full turns at the chosen distance, as trained."),
    "scaled turns": ("Turns, scaled", "Full turns at the chosen distance with the scaling."),
}

GAIN = (
    "Attention factor",
    "Cosines and sines are multiplied by it. YaRN: 0.1 ln(factor) + 1, unless config.json has an attention_factor, or mscale "
    "and mscale_all_dim, whose ratio counts.",
)
ROTATED = ("Rotated scores ×", "Query and key are both multiplied, so scores by its square.")
SCORE = "Score at {distance:,}"
SCORE_HELP = "Of a constant query and key, as a share of distance 0; {unscaled} without the scaling."
NEW_ANGLES = "Pairs at new angles"
NEW_ANGLES_COUNT = "{new} of {pairs}"
NEW_ANGLES_HELP = (
    "Pairs that this distance turns to an angle that no distance within the original length has; {unscaled} without the "
    "scaling."
)

BASE = "{off}**Base {base:,.0f}**: {pairs} pairs, from {first:,.1f} tokens for a full turn to {last:,.0f}{some}."
SOME = "; {rotated} of {channels} channels are rotated"
NO_PAIR = "{off}No pair of channels is rotated: a head has {channels}."
IN_SOURCE = (
    "The queries and keys of this source include their positions already. This is what rotary positions would do: "
)
OTHER_POSITIONS = "Positions are *{positions}* here. With *rotary* under More settings, Advanced: "
WITHIN = "Distance {distance:,} is within the original length of {length:,}: every angle occurs in training."
BEYOND = (
    "Distance {distance:,} is beyond the original length of {length:,}: {new} pairs that make less than a turn in training "
    "are at angles that never occurred there. A scaling under More settings, Advanced, changes that."
)
GAINED = (
    "Cosines and sines are multiplied by the attention factor, **{gain:.4f}**, so rotated scores by its square, "
    "**{square:.4f}**. If a checkpoint's config.json has its own attention_factor, that replaces it."
)
STRETCHED = (
    "The base grows to {base:,.0f}: the first pair rotates as in training, the last {factor:g} times more slowly, those "
    "between by powers of that."
)
SCALED_PAIRS = (
    "**{name}, factor {factor:g}.** Rotated as in training: {whole}. Rotated {factor:g} times more slowly, so that distance "
    "{distance:,} is to them what {trained:,.0f} was in training: {none}. In between: {between}.{ramp}"
)
RAMP_ENDS = " Both ends of what is in between are rounded to whole pairs, as in transformers; *{other}* does not round."
NO_PAIRS, ONE_PAIR, PAIRS = "no pairs", "pair {first}", "pairs {first} to {last}"
SCALED_SCORE = (
    "At distance {distance:,} a constant query and key score {scaled} of what they do unrotated; unscaled, {unscaled}. "
)
SCALED_WITHIN = "Training had distances up to {length:,}, including this one; the scaling changes their scores, too."
SCALED_BEYOND = (
    "That is beyond the original length of {length:,}: {new} pairs are at angles that never occurred in training, {before} "
    "without the scaling."
)

BIASES = (
    "**{name}** adds {adds}. Head {head} (of {heads}): {near} at distance 1 and {far} at distance {distance:,}, which "
    "multiplies the exponential of the logit by {near_factor:.3g} and {far_factor:.3g}. Neither changes with the length of "
    "training texts."
)
ADDED = "**Added to the logit** by distance, up to {farthest} tokens; the wide line is the selected head."
