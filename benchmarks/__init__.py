"""What the README claims, measured. `make bench` runs all of it, `python -m benchmarks.paint` one file.

Each file compares with a baseline inside one run, alternating, so that a busy machine slows both alike; each prints the
ratio, the bound and whether it holds, and exits with an error where it does not.

    core          attention with weights against torch's own, with and without them
    maps          maps of 65,536 tokens against torch and the floor, and what they take of memory
    cluster       maps on two Dask workers on this machine against two threads: what the way there costs
    paint         slider to painted pixels in a real browser, against a bare Streamlit app
    storm         fifty changes within a second from one visitor
    timing_repeat two sweeps in one process, which must agree within the uncertainty that they state
    model         another layer of 12 x 12 x 512 that was opened, and SmolLM2-135M-Instruct on 100 tokens, loaded and not yet
    fuzz          a million mutants of files, each read or refused with a sentence; time and memory of each
    host          visitors, classes, memory and start of the app as a host, from outside (benchmarks/host); its soak by name only
    record_gpu    records a GPU and its CPU for the Timing page; by name only, as it needs a GPU
    webgpu        the browser's kernels on this machine's GPU, beside torch's attention; by name only, needs PyPI's wgpu
    training      ten seeds of each task of the Training page, and what a step costs against torch's own attention
"""
