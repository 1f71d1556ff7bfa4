"""Maps on a real cluster: a scheduler and two workers, each a process of its own, some of which are killed."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from attention import HeadMaps, head_maps
from attention.maps import cluster, sizes
from attention.ui.jobs.map_jobs import MapJobs
from tests.clustered import Running
from tests.strategies import normal

pytestmark = pytest.mark.extended
NAMES = ("mean", "most", "lse", "entropy", "greatest", "distance")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    found = Running(tmp_path)
    yield found
    found.stop()


def same(one: HeadMaps, other: HeadMaps) -> bool:
    return all(torch.allclose(getattr(one, name), getattr(other, name), atol=1e-12) for name in NAMES)


def test_a_cluster_draws_the_same_and_survives_its_worker_and_its_scheduler(running, monkeypatch):
    """First with two workers, then one of them dies in the middle, then the scheduler."""
    monkeypatch.setattr(sizes, "BAND", 20_000)  # many jobs
    monkeypatch.setattr(sizes, "HEIGHT", 64)
    monkeypatch.setattr(cluster, "LOOK", 0.002)  # often enough that some look falls into the fetching of results
    query, key = normal(0, 2, 1500, 8), normal(1, 1, 1500, 8)
    wanted, notices = head_maps(query, key), []
    spread = cluster.executor(running.address, notices.append)
    assert isinstance(spread, cluster.Cluster)
    spread.client.wait_for_workers(2, timeout=60)

    assert same(head_maps(query, key, executor=spread), wanted)
    assert set(spread.client.run(os.getpid).values()) == {worker.pid for worker in running.workers}

    killed_before_job(10, running.workers[0], spread, monkeypatch)
    assert same(head_maps(query, key, executor=spread), wanted)
    assert running.workers[0].wait() == -signal.SIGKILL and notices == []

    killed_before_job(10, running.scheduler, spread, monkeypatch)
    assert same(head_maps(query, key, executor=spread), wanted)
    assert running.scheduler.wait() == -signal.SIGKILL
    assert len(notices) == 1 and "was lost" in notices[0] and running.address in notices[0]
    assert same(head_maps(query, key, executor=spread), wanted) and len(notices) == 1
    spread.shutdown()


def killed_before_job(number: int, process: subprocess.Popen, spread: cluster.Cluster, monkeypatch) -> None:
    """Kills a process when that many jobs of the next map are on their way, and others are still to come."""
    jobs, send = itertools.count(1), spread._submit_call

    def sent(*call):
        if next(jobs) == number:
            process.kill()
        return send(*call)

    monkeypatch.setattr(spread, "_submit_call", sent)


def test_a_scheduler_that_does_not_answer_leaves_the_work_here(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    notices, query = [], normal(2, 1, 40, 4)
    spread = cluster.executor("tcp://127.0.0.1:9", notices.append)
    assert same(head_maps(query, query, executor=spread), head_maps(query, query))
    assert len(notices) == 1 and "does not answer" in notices[0]


def test_without_an_address_there_is_no_cluster(monkeypatch):
    """Neither for a notebook, nor for an app whose owner names none; theirs is the one that they name."""
    assert cluster.executor("") is None
    asked = []
    monkeypatch.setattr(cluster, "executor", asked.append)
    monkeypatch.delenv("ATTENTION_DASK", raising=False)
    assert vars(MapJobs().blocks)["name"] == "blocks"
    monkeypatch.setenv("ATTENTION_DASK", "tcp://there:8786")
    assert vars(MapJobs().blocks)["name"] == "blocks" and asked == ["", "tcp://there:8786"]
