"""The words of the Examples page; those of each example are in attention/examples.py."""

FINDING_ONE = "One picture of attention, with a question. Open it and change any setting."
FINDING = "{count} pictures of attention, each with a question. Open one and change any setting."
HELP = (
    "In attention, each token mixes in information from other tokens; a weight says how much it takes from each. To turn an "
    "example into a question with a hidden answer, use *Class*."
)
QUESTION = "Question"
OPEN = "Open on {page}"
ALL = "All"
SECTIONS = {  # by name: label and icon
    "learn": ("Twelve steps", ":material/school:"),
    "all": ("All {count} pictures", ":material/apps:"),
    "questions": ("Five questions", ":material/quiz:"),
}
