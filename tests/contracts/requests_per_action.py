"""The actions that make more than one request where all goes well, nothing being remembered of earlier calls.

GitLab serves each, and each that waits for another is 50 to 200 ms. Whoever adds a line says what the others decide.
"""

MORE_THAN_ONE: dict[str, int] = {
    # Answers made of several, at once: the reason for the action.
    "browse_access_tokens overview": 7,
    "browse_code_owners merge_request": 3,
    "browse_files why": 4,  # the lines, who wrote them, their merge requests, what these close
    "browse_instance explain_access": 5,
    "browse_members get": 3,
    "browse_members list": 5,
    "browse_members who_can": 6,
    "browse_merge_requests merge_readiness": 6,
    "browse_merge_requests review_bundle": 6,
    "browse_boards issues": 3,
    "browse_milestones report": 3,
    "browse_pipelines compare": 6,
    "browse_pipelines failure_digest": 18,  # with the culprit
    "browse_pipelines wait": 18,  # a failed one ends with its digest
    "browse_projects overview": 11,
    "browse_releases prepare": 6,
    "browse_users inbox": 7,
    "browse_pipelines jobs": 2,  # bridges are jobs of another list
    "run_batch run": 2,
    # The list says a number where people know a path or a name.
    "browse_commits merge_requests": 3,
    "browse_environments deployment_merge_requests": 2,
    "browse_users events": 4,
    # An empty list: is it empty, or above the tier, or switched off?
    "browse_approval_rules trains": 3,
    "browse_discussions list_drafts": 2,
    "browse_environments get_protected": 3,
    "browse_environments list_protected": 3,
    "browse_issue_details iteration_events": 3,
    "browse_issue_details state_events": 2,
    "browse_issue_details weight_events": 3,
    "browse_merge_request_details approval_state": 3,
    "browse_merge_request_details context_commits": 2,
    "browse_registry list": 2,
    # GitLab takes what it cannot do, or does it wrongly: looked at before.
    "manage_access_token revoke": 2,  # whose it is
    "manage_branch delete": 2,  # open merge requests from it
    "manage_deploy_access add_key": 2,  # a key that is there already
    "manage_discussion resolve": 2,  # a comment is no thread
    "manage_discussion unresolve": 2,
    "manage_environment protect": 3,  # taken without effect below Premium
    "manage_feature_flag update": 2,  # what is not sent is removed
    "manage_member invite": 2,  # refused in a 201
    "manage_merge_request create": 3,  # made for branches that are not there
    "manage_release collect_evidence": 3,
    "manage_review comment_file": 3,  # kept at lines that are not there
    "manage_review comment_line": 3,
    "manage_review submit_review": 3,
    # The answer does not say what became of it: looked at afterwards.
    "manage_file create": 2,
    "manage_file delete": 2,
    "manage_file update": 2,
    "manage_group delete": 2,
    "manage_project delete": 2,
}
