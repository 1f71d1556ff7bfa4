"""The words of cards: the bar above a picture, the path, and the five questions at its end."""

PLACE = "{number} of {count}"
TRY = "**Try:** {do}"
CHANGED = "You have changed settings."
RESTORE = "Restore the picture"
PREVIOUS, NEXT, NEXT_STEP, ALL, STEPS, END = (
    "Previous",
    "Next",
    "Next step",
    "All examples",
    "All steps",
    "Test yourself",
)
CLOSE = "Closes the card and keeps the picture."
PATH_SAYS = "Learn how attention works in twelve steps, in about 30 minutes."
PATH_HAS = "Each step has a picture, something to try and a question."
OPENED = "{opened} of {count} steps opened"
HERE, VISITED = ":blue-badge[You were here last]", ":gray-badge[:material/check: Visited]"
BEGIN, CONTINUE = "Begin with step 1", "Continue with step {number}"
STEP = "{number} · {title}"
CHECKS_SAY = "Five questions on attention; each right answer is explained. **{right} of {count}** right so far."
SEE = "See it: {title}"
