"""The words of the Steps page."""

STEP = "{kind}, step {at} of {count}: **{title}**"
ALL = "{way}, in {count} matrices"
HELP = "{way}, one matrix at a time. Play it, or click a part. Point at a cell to see what it was computed from."
