"""The head that the Start page tells about.

`head` says what it attends to and how it changes the vector of a word, `settings` what the page shows; `record` writes what
the head reads and writes. A sentence is a recording of all layers of MiniLM (`recorded/shipped.py`) and, in story.npz, the
vectors of its tokens. To add one, record it, give it a line in `SENTENCES`, and run `python -m attention.story.record`.
"""
