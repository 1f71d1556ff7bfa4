"""What learners often believe about attention, each as a card: a picture, a guess, and why the belief is wrong.

Every number of a card is computed by a test (tests/test_lessons.py).
"""

from __future__ import annotations

from attention.config import Config
from attention.examples import ADVANCED, BASIC, INTERMEDIATE, RANDOM, Example

MISCONCEPTIONS: dict[str, Example] = {
    "axis": Example("Rows or columns: which is the query?", "heads", Config(head=2),
        "Each row is a query, each column a key. Head 2 has one strong column, the first.",
        "What does a strong first column say?",
        ("The first token attends to every token", "Every token attends to the first token", "Both"), 1,
        "A row is what one query attends to, so a strong column is a key that every query attends to. The first token itself sees no other token here: its row has a single weight, 1. Rows sum to one; this column sums to 17.2.",
        BASIC, "weights"),
    "true": Example("True: kept or masked?", "masks", Config(mask="full", combine="without", second="causal"),
        "The matrix torch.triu(ones, 1).bool() is True where the key is later than the query. This picture shows what scaled_dot_product_attention does with it.",
        "What is visible if this matrix is passed as attn_mask to scaled_dot_product_attention?",
        ("Each token and earlier ones", "Only later tokens", "Everything: the matrix is ignored"), 1,
        "In scaled_dot_product_attention True takes part, so each token sees only the future and the last one nothing. In nn.MultiheadAttention the same matrix is a causal mask: there True is masked.",
        INTERMEDIATE, "masks"),
    "counts": Example("Does a window count the query itself?", "masks", Config(mask="window", span=3, query=10),
        "A window with a span of three, as this app counts: the query itself is one of the three.",
        "How far back does a window of three see?",
        ("Two tokens", "Three tokens", "Four tokens"), 0,
        "The window is the query and the two tokens before it. Code that means three tokens besides the query has to ask for a window of four here. Implementations differ, so compare one row before you port a model.",
        INTERMEDIATE, "masks"),
    "over": Example("Does softmax run over keys or over queries?", "heads", Config(mask="full", heads=4, d_model=256, projections="independent"),
        "Four random heads without a mask. Each query divides a weight of one among the keys.",
        "If the softmax ran over queries instead, what would a row of head 0 sum to?",
        ("Exactly one, too", "Between 0.78 and 1.31", "Always more than one"), 1,
        "Then columns would sum to one, and the rows of head 0 to anything from 0.78 to 1.31: some queries would receive more in total than others. With a causal mask every such weight would depend on later tokens.",
        INTERMEDIATE, "softmax"),
    "importance": Example("Is the largest weight the most important token?", "heads", Config(heads=4, d_model=16, projections="independent", seed=6, head=1, query=8, row_as="output"),
        "The query “left” gives its largest weight, 0.197, to “river”, and 0.085 to “was”.",
        "Which of the two changes the output of the head more?",
        ("“river”, with the larger weight", "“was”, with the longer value", "Both equally"), 1,
        "“was”: an output is a sum of weights times values, and the value of “was” is 15.9 times as long, so it adds 6.9 times as much. A weight says what share of a value is taken, not how large the value is.",
        INTERMEDIATE, "weights and values"),
    "cost": Example("Do more heads cost more?", "steps", Config(heads=16, step="scores"),
        "Sixteen heads of 32 channels in a model of 512: twice as many heads as the default, each half as wide.",
        "How do the operations of all matrix products change from 8 to 16 heads at the same width?",
        ("Not at all", "They double", "They halve"), 0,
        "Not at all: the scores of all heads still take 331,776 operations, and projections do not depend on heads. Only what is done per weight doubles: scaling and softmax, and the memory for the weights.",
        INTERMEDIATE, "heads and d_head"),
    "root": Example("Does √d matter for narrow heads?", "softmax", Config(topic="scaling", d_model=4, heads=1, scale="none", **RANDOM),
        "A head of four channels without scaling, and the same statistics for other widths.",
        "How much does dividing by √d change in a head of one channel, and in one of 1,024?",
        ("Much in both", "Nothing with one channel, much with 1,024", "Nothing in both"), 1,
        "With one channel √d is 1. At 4 channels the largest of 18 weights averages 0.41 without scaling and 0.22 with it, at 1,024 channels 0.96 and 0.23: the wider the head, the more it matters.",
        INTERMEDIATE, "dot products and softmax"),
    "cache": Example("Is a causal mask needed with a KV cache?", "masks", Config(mask="causal"),
        "A causal mask over 18 tokens. With a cache, a new token is one query: the last row.",
        "Which cached keys have to be masked for one new token?",
        ("All but the last", "Half of them", "None of them"), 2,
        "None of them: the last row of a causal mask is fully visible, so one query at a time needs no mask. It is needed as soon as several tokens are processed at once, as in a prompt: every other row masks keys.",
        ADVANCED, "masks, KV cache"),
}  # fmt: skip
