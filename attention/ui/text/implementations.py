"""The words of the page Implementations."""

FINDING = "{wrong} of {count} published implementations differ from the reference at these settings; {corrected}."
CORRECTED = {0: "corrected, all agree", 1: "corrected, one still does"}
CORRECTED_MORE = "corrected, {count} still do"
ABOUT = (
    "Published code of attention, rewritten and run on the same weights and tokens as the reference, in float64: a difference "
    "is a mistake, not rounding."
)
FIRST_TOKENS = "Compared on the first {shown:,} of {tokens:,} tokens."
LEFT_OUT = "Not applied here, because no document supports them: {settings}."
SELF_ONLY = "This one is self-attention only: cross-attention keys and d_v are not applied."
WAITS = "Comparing all implementations …"
WHAT = "What it computes, and the lesson"
LINES = "The wrong lines"
DETAILS = "Code, shapes, costs and accepted inputs"
