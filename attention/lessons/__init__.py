"""Cards in an order: examples by difficulty, misconceptions, and a path of twelve steps with questions.

    misconceptions     what learners often believe, each as a card with a picture that shows why it is wrong
    path               the steps of *Learn in 20 minutes*, and the questions at its end
    cards              every card by its name in a link, with the one before and the one after

To add a step or a misconception, add it to its table, and what it claims to tests/test_lessons.py.
"""
