"""Checks of a call that GitLab answered with success: did it do what was asked? Each finding becomes a warning.

`all_checks.py` runs them on one call, described by `success.py`; `not_applied_notice.py` makes the commonest warning:

- `unknown_to_version.py`: a field that this version of GitLab does not know
- `features_above_tier.py`: a feature that the tier lacks, accepted and not carried out
- `unsaved_fields.py`: a field that was sent and is not in the answer (`field_outcome.py` compares the two)
- `ignored_quick_actions.py`: a quick action that did nothing
- `error_in_success.py`: an answer of 200 or 201 with an error inside
- `unchanged_state.py`: an object that is still in the state it was in
- `administrators_filters.py`: filters that GitLab takes from administrators only
- `empty_lists.py`: a list that is empty because of a switch, a ref or a path
"""
