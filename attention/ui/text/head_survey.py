"""The words of what a head does over many texts."""

HOLDS = "This head has the same role, “{name}”, on {many} of the app’s {texts} short texts."
HOLDS_FEW = "This head has this role, “{name}”, on only {many} of the app’s {texts} short texts."
RESTS = "It also attends to the first token on {many} of the app’s {texts} short texts (role “{name}”)."
OTHERWISE = "On {many} of the app’s {texts} short texts, this head has the role “{name}”."
OTHERWISE_FEW = "Its most frequent role on the app’s {texts} short texts is “{name}”, on only {many} of them."
NEVER = "This head follows no single pattern on any of the app’s {texts} short texts."
ROLE_NAMES = {"nearby": "nearby: within five tokens"}  # of roles whose short name needs a definition
NAMED = "{name}\non {many} of {texts} short texts"  # the first line is shown, both on hover
NAMED_LONG = "{name}, on {many} of {texts} short texts"
HOLDS_ON = "Same role"
HOLDS_ON_HELP = (
    "On how many of {texts} short texts the head has the role that it has here, alone or with another. –: it has no role "
    "here, or it is an induction head, which few of these texts can show, as little in them occurs again."
)
ONE_TEXT = "This is one text: on others the head may do something else."

TITLE = "Layer {layer}, head {head} over {texts} texts"
ABOUT = (
    "One text rarely shows what a head does. These are means over {texts} short texts: prose, dialogue, lists, numbers, code, "
    "and a few lines in six other languages."
)
UNKNOWN = (
    "One text rarely shows what a head does. Let this model read {texts} short texts: prose, dialogue, lists, numbers, code, and "
    "a few lines in six other languages. All of its heads are surveyed at once."
)
RUN = "Read {texts} texts"
RUNNING = "{model} reads {texts} texts."
ROLES = "**Its roles, each text counted once:** {roles}; no role on {none} texts."
ROLE = "“{name}” on {many}"
NO_ROLES = "**It has no role** on any of these texts."
DISTANCES = "Share of the weight by distance, query minus key. The ends include all that are farther."
KINDS = "Queries by the kind of the token with their largest weight; the first kind that fits counts."
KIND_NAMES = {
    "first": "first token",
    "previous": "previous token",
    "same": "same token",
    "mark": "model's own mark",
    "punctuation": "punctuation",
    "subword": "rest of a word",
    "other": "other",
}
GROUPS = {
    "strongest": "**Strongest tenth** of the texts, by its largest weights other than on the first token and on the query.",
    "middle": "**Middle tenth.**",
    "weakest": "**Weakest tenth.**",
}
SHADED = (
    "Each row is one query, framed in blue, and its weights as shades. It is the query with the largest such weight."
)
DISTANCE, SHARE = "query − key", "share of the weight"
