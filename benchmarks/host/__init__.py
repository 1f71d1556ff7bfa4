"""The app as a host of many, measured from outside: `python -m benchmarks.host`, or some of it: `… host load class`.

    load      25, 50 and 100 visitors who change settings, beside a plain app of the same kind in the same run
    class     40 visitors within two seconds, each with a link of their own, on a warm server and on cold ones
    rooms     a class of 40 in a room that answers within two seconds, and the memory of 100 rooms that are full
    memory    what it takes with ATTENTION_MEMORY=690, from one visitor to a map of 65,536 tokens in 32 heads
    start     from the start of a process to its health, and to the picture of a first visitor, in a browser on a slow line too
    files     files that are made to stop a server, one after the other: its memory, others' sliders, others' small files
    soak      an hour of all that visitors do (`--minutes`), after which nothing has grown; only where it is named

`crowd` has the visitors, `outside` what is seen of a process, `bounds` how a bound is told; `plain` is the other app.
Visitors speak Streamlit's websocket (tests/visitor.py), all from one process on the same cores as the server: what they take
of these is printed with the figures. Linux only.
"""
