"""The words of the Examples page; those of each example are in attention/examples.py."""

FINDING_ONE = "One example. Open it and change any setting."
FINDING = "{count} examples{also}. Open one and change any setting."
ALSO = ", {steps} of them also among the twelve steps"
HELP = (
    "In attention, each token mixes in information from other tokens; a weight says how much it takes from each. Each "
    "example opens on its page, with a question about it."
)
PLACE = "{page}{needs}"
NEEDS = " · know first: {needs}"
ALL = "All"
SECTIONS = {  # by name: label and icon
    "learn": ("Learn in 12 steps", ":material/school:"),
    "all": ("{count} examples", ":material/apps:"),
    "questions": ("Test yourself", ":material/quiz:"),
}
