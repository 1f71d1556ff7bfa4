"""A small, exact attention core, and the parts of the app that shows it.

From the ground up, where each may import what stands before it:

    masks scores inputs    rules about a pair of tokens, about a score, about where x comes from
    framing digits         a header and bytes as one message, and where the third digit of a number turns
    memory threads kept    where large weights are kept, who computes alone, tensors that are made once
    attend layer           attention with the weights of every head, as a function and as a module
    config codec           every knob, and the link that carries them
    projected trace        queries, keys and values of a config; every step of one pass
    heads                  what a head does, in numbers
    bounds quadtree blocks  which blocks of the square a mask rule hides, shows or cuts
    scoring pooling spread  some rows of one head, pooled while they are computed; here or by an executor
    cluster                an executor that spreads that work over other machines
    maps zoom              pictures of the weights at any length, and what follows from them
    map_numbers estimate   what a head does at any length, in numbers; how long that takes
    parity map_parity program  the proof that a trace is PyTorch's attention, and the program that computes it
    stages distribution    how one row of weights came about, and the weights of all rows
    scaling precision      why scores are divided by the root of d_head, and what number types do to a head
    gallery effect audit   masks side by side, what one takes from the weights, and rows that see nothing
    grouping mask_code     heads that share keys and values, and a mask as code to take away
    steps passes lit matrices        a pass matrix by matrix: what each is, its numbers, where a cell comes from, its bytes
    published              attention as others have published it, against this one
    devices implementations sweep    what can be timed where, and which cases of it are
    stopwatch footprint roofline     seconds, bytes and operations of a call, and what hardware could do at best
    recordings comparison  timings as they are kept and travel, and what they say about each other
    calls yardstick course  a case made ready, whether the machine is left alone, what is known about a case so far
    turn timing            one measurement at a time, seconds with their spread
    command                the command line of timing
    tables cells softmax_tables      tensors to rows and bytes
    charts components      figures, and the parts that run in the browser
    ui                     how a page begins, and cached calls into the core

Axes have one letter each, in annotations, einops patterns and charts: `b` batch, `h` heads, `g` heads with keys and
values of their own, `q` queries, `k` keys, `d` channels of a head, `e` channels of a value, `c` channels of a token,
`p` pixels, `n` tokens.
"""

from attention.attend import Attention, scaled_dot_product_attention
from attention.config import Config, ConfigError
from attention.layer import MultiHeadAttention
from attention.maps import HeadMaps, head_maps
from attention.spread import Cancelled
from attention.trace import Trace, trace

__all__ = [
    "Attention",
    "Cancelled",
    "Config",
    "ConfigError",
    "HeadMaps",
    "MultiHeadAttention",
    "Trace",
    "head_maps",
    "scaled_dot_product_attention",
    "trace",
]
