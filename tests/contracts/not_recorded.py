"""Actions whose example no recording answers, with the reason. Everything else about them is tested all the same."""

NOT_RECORDED: dict[str, str] = {}
