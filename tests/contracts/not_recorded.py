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
    "manage_issue unsubscribe": "recorded by bob only",
    "manage_issue create_todo": "recorded by bob only",
    "manage_label subscribe": "recorded by wanda only",
    "manage_label unsubscribe": "recorded by wanda only",
    "browse_milestones burndown_events": "paid, and never asked",
    "manage_discussion update_note": "recorded by bob, whose note it was",
    "manage_discussion delete_note": "recorded by bob, whose note it was",
    "browse_epics children": "paid, and never asked",
    "manage_epic add_child": "paid, and never asked",
    "manage_epic remove_child": "paid, and never asked",
    "manage_epic add_link": "recorded with a number where a path is sent",
}
