"""The words of the page Find the bug."""

FINDING = "Both versions run without an error. Why do their maps differ?"
SOLVED = ":green[✓ {bug}]"
MISSED = ":red[✗ {bug}]"
END = "**That was the last bug.** {score}"
NO_SCORE = "**Score 0.** Your first guess at each bug counts."
SCORE = "**{right} of {count} tried** right at the first guess"
MARK = "Mark what differs"
MARKED = {
    True: "Framed: {marked} of {cells} cells, those that are masked in one map alone.",
    False: "Framed: the {marked} largest differences; {count} of {cells} cells differ by at least 0.01.",
}  # whether cells are masked in one map alone
MARKED_ROW = "{masked} of {cells} cells are masked in one map alone. Framed: those of the last row, as an example."
QUESTION = "What is wrong here?"
REVEAL = "Show the answer"
COPY = "Copy link to this bug"
NEXT = "Next bug"
AGAINST = "**Not this one.** {why} Try again."
RIGHT = "**Right: {answer}.** {mistake}"
ANSWER = "**{answer}.** {mistake}"
WHY = "Why it happens, and how to find it"
DOCUMENT = "Published in {document}."
COMMON = "A common mistake, not taken from a document."
COMPARE = "Compare it at your own settings → Implementations"
CODE = "A hint: the code with the bug"
SEEN = "**In the map:** {seen}"
CHANGES = "− with the bug, + corrected:"
LEGENDS = {
    "weights": "Brighter means more; hatched: weight 0, masked. A cell has its number under the pointer.",
    "influence": "Brighter means more; hatched: no influence. A cell has its number under the pointer.",
}
VERSIONS = {False: "Correct", True: "With the bug"}
HEAD = ": head {head}"
ALT = "Map by query and key. {title}."
WEIGHT = "{query} puts {weight} on {key}"
MASKED = "{key} is masked for {query}"
CHANGE = "Replacing {key} changes the output of {query} by {change} of the largest change"
NO_CHANGE = "Replacing {key} does not change the output of {query}"
