"""Every job with files, variables and to-dos is done to its end state through a real client."""

from __future__ import annotations

import pytest

from tests.journeys.jobs_with_files import JOBS, STORE
from tests.support.jobs import played


@pytest.mark.anyio
async def test_every_job_with_files_is_done_to_its_end() -> None:
    STORE.start_over()
    failed = [
        f"{done.job.number} {done.job.said}: {done.problem}"
        async for done in played(JOBS, STORE)
        if done.problem
    ]
    assert failed == []
