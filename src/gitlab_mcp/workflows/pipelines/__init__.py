"""Why did a pipeline fail, and when is it over?

- `failure_facts.py`: reads jobs, logs, tests and downstream pipelines
- `culprits.py`: which commits broke its jobs, and which jobs are flaky
- `failure_digest.py`: says why it failed
- `job_log_ranges.py`: part of a job's log by its bytes
- `artifact_search.py`: the newest job that left a file
- `pipeline_comparison.py`: what is different between two pipelines
- `waiting.py`: asks now and then until something has ended; `awaited.py`: what is told of it then
- `started.py`: writes that start one, and wait for its end on request
- `shipped.py`: which merge requests a deployment brought
- `deployment_rollback.py`: deploys an earlier success again
"""
