"""Attention measured in the visitor's browser by WebGPU: kernels' templates and sizes, their proof, and the results.

template    expands the templates of the kernels, by the same rules as the browser
tiles       the sizes of workgroups, from which the browser chooses
proof       input that both make bit for bit alike, and the exact result
"""
