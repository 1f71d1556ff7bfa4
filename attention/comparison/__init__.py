"""Comparing any two sets of weights: A and B, each the heads of a layer.

`sides` has what is compared, `row_numbers` how much each row of each head changed, `head_changes` the summary per head and its
sentence, `pooling` the difference as cells, `nearest_heads` which heads of two models do the same;
`long_differences` subtracts sequences of any length, `sampled_rows` has more numbers of some of their rows.
`layers` compares whole
stacks for notebooks and files. To add a number of a row, write its function and its record in `row_numbers.NUMBERS`; the tables
and the sentence read it.
"""
