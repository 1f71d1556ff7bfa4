from attention.parity import Parity


def parity(maps, query, key, rows=16):
    return Parity(0, 0, 0, 0, rows)
