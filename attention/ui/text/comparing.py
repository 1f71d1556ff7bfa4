"""The words of a comparison of two sides, on every page that has one."""

COMPARE = "Compare"
COMPARE_HELP = (
    "Pins what is shown as side A. Whatever you set from then on is side B, and the page shows the difference."
)
SWAP, SWAP_HELP = "Swap", "Exchanges A and B."
UNPIN, UNPIN_HELP = "Unpin", "Ends the comparison and shows B."
HEAD_OF_A = "Head of A"
SAME_HEAD, NEAREST_HEAD = "same", "nearest"
HEAD_HELP = (
    "Compares one head with another: a head of A with the selected head of B. Nearest: the one at the smallest "
    "Jensen-Shannon distance."
)
SAME = "A and B have the same settings. Change a setting: it changes B."
DIFFERS = "**A** {a} · **B** {b}"
MORE = " and {count} more settings"
SIDE_A, SIDE_B = "**A**", "**B**"
LINES = "B − A. Solid lines: larger in B; dashed: smaller. Width follows the size of the difference."
NO_VALUES = "This source has no values, so there is no output."
OF_A, OF_B = " of A", " of B"
STRIPES = "Stripes: masked on one side."
POSITIONS = "The tokens differ: weights are compared by position."
SIGNED = "Differential attention has weights below zero, which are not compared: choose another softmax on both sides."
LENGTH = "A has {tokens} tokens: sides of at most {most} tokens are compared weight by weight."
TOO_LONG = "Not compared: {tokens} tokens; sides of at most {most} tokens are compared weight by weight. B is shown."
ROW = "{query} in head {head}: {number} {value}. Largest weight: A {a}, B {b}."
ROW_ALONE = "{query} in head {head}."
NUMBERS = (
    "**Change per head, from A to B.** Means over queries with a visible key. Point at a column title for its formula."
)
ONE_SIDE = "This page shows one side at a time: its steps are not subtracted."
PAIRS = "Visible pairs: {a} in A, {b} in B; {only_a} in A only, {only_b} in B only."
ON_HEADS = "B − A of all weights → Heads"
CHANGED = "{head} changed most of {count} heads: {statistic} is {before} in A and {after} in B."
UNCHANGED = "No head changed: {statistic} is the same in A and B for all {count} heads."
NO_CHANGE = "No head has this statistic on both sides."
LAYERS_SCALE = "B − A. Green: larger in B; orange: smaller. Full colour: {limit} and more."
ARROWS = "Squares: the heads of A. A line leads from each to the same head of B."
