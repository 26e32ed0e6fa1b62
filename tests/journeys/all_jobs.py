"""All jobs, by their number. 1 to 45 are those that were tried on a live GitLab; those above were never asked there."""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from tests.journeys import everyday_jobs, jobs_with_ci_and_people, jobs_with_files

JOBS: Final = sorted(
    (*everyday_jobs.JOBS, *jobs_with_files.JOBS, *jobs_with_ci_and_people.JOBS), key=attrgetter("number")
)
FORTY_FIVE: Final = range(1, 46)
