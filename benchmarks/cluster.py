"""Maps on a Dask cluster of two workers on this machine, against two threads: `python -m benchmarks.cluster`.

Cores are the same, so the ratio says what the way through a scheduler costs: sending, waiting, coming back. One head of
64 channels under the causal mask. No bound; docs/CLUSTER.md tells what came out.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from attention import head_maps
from attention.maps import cluster
from benchmarks.interleaved import environment, ratio, times
from benchmarks.maps import inputs, pool
from tests.clustered import Running

ROUNDS = 5


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        running = Running(Path(folder))
        try:
            spread, here = cluster.executor(running.address), pool()
            print(f"Maps on two Dask workers against two threads; {environment()}")
            for tokens in (4096, 16_384, 65_536):
                query, key = inputs(tokens)
                found = times(
                    {
                        "cluster": partial(head_maps, query, key, mask="causal", executor=spread),
                        "threads": partial(head_maps, query, key, mask="causal", executor=here),
                    },
                    ROUNDS,
                )
                seconds = min(found["threads"])
                print(f"{ratio(found, 'cluster', 'threads')} of {seconds:.2f} s: {tokens:,} tokens", flush=True)
        finally:
            running.stop()


if __name__ == "__main__":
    main()
