"""Process-wide resources: buffers for large weights, worker threads, the order of waiting, and the result cache.

Nothing here knows what attention is. `processor` reads cache sizes and finds the faster exponential, `memory` allocates
buffers for weights, `threads` starts pools and sets their threads and niceness, and `tensor_cache` keeps tensors that
any of torch's modes can use. A new kind of work gets one of the `executors`, with a rank above all that it waits for;
`stall_detector` reports one that makes no progress. Results are kept by `result_cache`, which counts bytes. A `budget`
divides memory among all its holders, and large work waits for `admission`. The app's executors and its cache are in
ui/results/shared.py.
"""
