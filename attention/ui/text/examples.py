"""The words of the Examples page; those of each example are in attention/examples.py."""

FINDING_ONE = "One picture of attention. Open it and change any setting."
FINDING = "{count} pictures of attention. Open one and change any setting."
HELP = (
    "In attention, each token mixes in information from other tokens; a weight says how much it takes from each. To turn an "
    "example into a question with a hidden answer, use *Class*."
)
OPEN = "Open on {page}"
ALL = "All"
SECTIONS = {  # by name: label and icon
    "learn": ("Twelve steps", ":material/school:"),
    "all": ("All {count} pictures", ":material/apps:"),
    "questions": ("Five questions", ":material/quiz:"),
}
