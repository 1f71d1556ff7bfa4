"""The words of the comparison of groupings, from multi-head to multi-query attention, on the Heads page."""

FOLD = "Compare MHA, GQA and MQA"
ONE_HEAD = "With one head, multi-head and multi-query attention are the same."
NEEDS = "The same weights from multi-head to multi-query attention"
COMPUTING = "Computing every grouping"
CHART_ALT = "Lines by number of key-value heads: the share of weight that each head moved to other keys"
INTRO = (
    "Fewer key-value heads make the KV cache smaller, and change the weights. **Moved**: the share of the weight that goes to "
    "other keys. **Output Δ**: the change of the output relative to its size. A button sets that number of key-value heads."
)
KV_HEADS, NAME = "KV heads", "Attention"
MOVED = "Moved"
MOVED_HELP = "Weight moved to other keys: half the sum of |w' - w| per row, averaged over rows with a visible key"
OUTPUT = "Output Δ"
OUTPUT_HELP = "Relative change of the output after W_o: |y' - y| / |y|, Frobenius norms"
BYTES = {"float32": "Bytes, float32", "bfloat16": "Bytes, bfloat16"}
BYTES_HELP = "KV cache of one layer in {dtype}"
BLIND = (
    "{blind} of {queries:,} queries have no visible key: their weights and outputs are zero under every grouping, and “Moved” "
    "is the mean over the others."
)
METHOD = (
    "Groups of r = heads / kv heads share the mean of their keys and values (Ainslie et al. 2023, section 2.1, without the "
    "uptraining). Cache: one layer, {tokens:,} tokens, d_head {d_head}. Where heads share keys and values, "
    "the title of each has the number of its key-value head, “kv”.{drawn}"
)
DRAWN = " The current setting draws shared projections instead of averaging."
USE_HELP = "Uses {name} attention: {kv_heads} averaged key-value heads"
