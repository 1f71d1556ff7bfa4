"""What a computer needs of us: memory for large weights, threads, who may wait for whom, and what is kept.

Nothing here knows what attention is. `processor` says what caches there are and which exponential is faster, `memory` finds
room for weights, `threads` have torch compute alone, and what is `made_once` serves callers in any of torch's modes. A new kind
of work gets one of the `lanes`, of a rank above all that it waits for, and `watch` tells when one of them stands still; what is
worth keeping is begun through `kept`, which counts bytes. A `budget` shares memory among all who claim some of it, and
what needs much of it waits for its turn in `under_way`. The app's
lanes and results are those of ui/compute/owner.py.
"""
