"""The words of cards: the bar above a picture, the path, and the five questions at its end."""

PATH = "Learn in 20 minutes"
PLACE = "{number} of {count}"
TRY = "**Try:** {do}"
CHANGED = "You have changed the settings, so the sentence may no longer be true."
RESTORE = "Restore the picture"
PREVIOUS, NEXT, ALL, STEPS, END = "Previous", "Next", "All examples", "All steps", "Five questions"
CLOSE = "Closes the card and keeps the picture."
PATH_SAYS = (
    "Learn in 20 minutes: twelve steps from one word to a real model, each with something to try and a question."
)
HERE = ":blue-badge[You were here last]"
BEGIN, CONTINUE = "Begin with step 1 → {page}", "Continue with step {number} → {page}"
STEP = "{number} · {title} → {page}"
NEEDS = "Know first: {needs}."
CHECKS_SAY = "Five questions on the twelve steps. **{right} of {count}** right so far."
