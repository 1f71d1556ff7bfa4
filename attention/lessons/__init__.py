"""Cards in an order: examples, positions, misconceptions, comparisons, and a path of twelve steps with questions.

    misconceptions     what learners often believe, each as a card with a picture that shows why it is wrong
    position_cards     what rotary positions and their scalings do, each as a card
    comparisons        two pictures compared, each as a card about their difference
    findings           what one sees in each of these, in one line
    path               the steps of *Learn in 30 minutes*, and the questions at its end
    cards              every card by its name in a link, with the one before and the one after

To add a step, a misconception or a comparison, add it to its table, its line to `findings`, and what it claims to
tests/test_lessons.py.
"""
