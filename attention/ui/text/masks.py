"""The words of the Masks page."""

FINDING = "**{name}**{span} keeps {pairs} of {whole} pairs; computing only these saves {saved} of the work."
FIXED = "The weights of this source are fixed: no mask changes them."
HELP = (
    "A mask defines which keys each query may attend to. Rows are queries, columns are keys; masked pairs are hatched."
)
