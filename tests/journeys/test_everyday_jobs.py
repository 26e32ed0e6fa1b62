"""Every job is done to its end state, through a real client over stdio, and asks GitLab nothing that nobody answers."""

from __future__ import annotations

import pytest

from tests.journeys.all_jobs import FORTY_FIVE, JOBS
from tests.support.jobs import played


@pytest.mark.anyio
async def test_every_job_is_done_to_its_end() -> None:
    failed = [
        f"{done.job.number} {done.job.said}: {done.problem}" async for done in played(JOBS) if done.problem
    ]
    assert failed == []


def test_each_of_the_forty_five_is_played_once() -> None:
    assert [job.number for job in JOBS if job.number in FORTY_FIVE] == list(FORTY_FIVE)


def test_jobs_are_numbered_once() -> None:
    numbers = [job.number for job in JOBS]
    assert sorted(set(numbers)) == sorted(numbers)
