"""Issues, work items, boards and milestones.

- `issue_bulk_update.py`: changes many issues alike
- `work_items.py`: work items as GraphQL knows them, in the words of REST
- `work_item_scopes.py`: the place, or the one work item, that an action is about
- `board_issues.py`: the open issues of each list of a board
- `milestone_report.py`: how a milestone stands
"""
