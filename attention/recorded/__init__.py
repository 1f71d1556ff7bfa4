"""Attention that was recorded: a format of our own (`file`), the recordings that ship (`shipped`), and the script that makes
one of them again (`constructed`).

Recordings stand below the knobs, as a config must fit what it shows. Another one is its file here and its line in
`shipped.SHIPPED`.
"""
