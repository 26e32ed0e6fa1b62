"""Actions whose example no recording answers, with the reason. Everything else about them is tested all the same."""

NOT_RECORDED: dict[str, str] = {
    "browse_commits signature": "no commit of the recorded world is signed",
    "browse_tags signature": "no tag of the recorded world is signed",
    "browse_instance statistics": "never asked",
    "browse_instance templates": "never asked",
    "browse_instance template": "never asked",
    "browse_projects templates": "never asked",
    "browse_projects template": "never asked",
    "browse_users memberships": "asked by an administrator only",
}
