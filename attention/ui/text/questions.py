"""The words of the questions that hide an answer: those of a link's author, and the built-in ones."""

# Around every question.
ASKS = "This link asks a question."
ASKED, FIRST = "Here is your question.", "Answer it before you look."
HIDDEN = "Every page hides the answer until it is revealed."
OWN, PREDICT = "Question", "Predict first"
REVEAL, HIDE, END, NEXT_QUESTION = "Reveal answer", "Hide answer", "End question", "Next question"
GUESS, GUESS_FIRST = "Your guess", "Choose your guess first, or reveal the answer without one."
RIGHT = "Right. "
MARK = "✓"  # behind the right guesses once the answer is revealed
WRONG, ANSWER_IS, TRY_AGAIN = "Not quite: you chose {guess}. ", "The answer is ", "Try another answer."
QUOTED = "“{guess}”"

# A question in the words of a link's author.
BY = "Question from the person who shared this link."
MINE = "Your question, as it appears to people who open its link."
HIDES = {  # whether the question hides the pictures
    True: "The pictures are hidden until the answer is revealed.",
    False: "The answer is hidden until it is revealed, and so are the descriptions of heads.",
}
NO_ANSWER = "This is an open question without a given answer. Compare your answer with others."
NOT_MARKED = "No answer was marked as right. What do you think of each?"

# The built-in questions.
OFFERS = {
    "row": "Ask about the row",
    "temperature": "Ask about the temperature",
    "mask": "Ask about the mask",
}
UNSAID = "A description of what heads do appears here once the answer is revealed."

# The keys of a row.
QUERY = "Query"
ROW = "{query} in {head} has {visible:,} visible keys{mask}. Which key gets the largest weight?\n\n{facts}\n\n{tokens}"
UNDER = " under **{mask}**"
EVEN = "all about equally"
EACH = "Each of the {count:,} keys gets {weight}."
BETWEEN = "between {least} and {largest}"
LARGEST = "It gets {weight}{ties}; the uniform weight is {even}."
TIES = " (nearly as much: {keys}{more})"
MORE = " and {count:,} more"
NO_TEXTS = "The tokens have no texts, only positions from 0 to {last:,}."
SELECTED = "**{token}**"
FROM = "“{source}”: {label}."
FACTS = "Projections: {projections}; positions: {positions}."
RANDOM = "This head is random: it was built by no rule."  # of a head among hand-built ones
TIED = "Equal {unit}s have equal vectors. "
BUILT = "This head was built by a rule. "
VECTORS = "A {unit}'s vector describes the {unit} and its position. "
READS = {  # what the rule of a hand-built head uses; not what it attends to, which is the answer
    (True, False): "The rule uses the {unit}s themselves, not their positions. ",
    (False, True): "The rule uses positions, not the {unit}s themselves. ",
    (True, True): "The rule uses both the {unit}s and their positions. ",
}
ADDED = "Added position encoding: {positions}."
BECAUSE = "{why} **{head}** {does}"
INPUT = "Input: {about} "
NO_KEY = "{query} has no visible key{mask}. What are its weights?"
NO_KEY_GUESSES = ("zeros", "all equal", "NaN")  # the first is right
NO_KEY_ANSWER = "Without a visible key, all weights are zero here."
ONE_KEY = (
    "{query} in {head} has one visible key{mask}, {key}, under the softmax “{softmax}”. How much of the weight does it "
    "get?"
)
PART = ("all of it", "a part of it", "nothing")  # of its weight, for a key that is the only visible one
ONE_KEY_ANSWER = "It gets {weight}: {reason}."
SCORE_IRRELEVANT = "with a single visible key the score does not matter"
REST = "{rest} gets the rest, so it depends on the score"
SIGMOID = "a sigmoid weighs every key by itself, so it depends on the score"

# The keys that a mask leaves.
MASK = (
    "Picture the mask **{mask}**{span} for {queries:,} queries and {keys:,} keys, counted from 0. {help} How many keys are "
    "visible to query {query}?"
)
SPAN = ", span {span}"
MASK_ANSWER = "Query {query} attends to {keys}."
KEYS, NO_KEYS = "{keyword} {keys}", "no key"
KEYWORDS = ("key", "keys")
