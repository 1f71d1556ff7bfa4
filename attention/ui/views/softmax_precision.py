def draw(trace):
    pass
