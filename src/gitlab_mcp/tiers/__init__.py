"""GitLab's tiers: Free, Premium and Ultimate.

- `feature_map.py`: what each feature needs, read from `tier_features.yaml`
- `requirements.py`: the features that an action, or one call of it, needs
- `effective_tier.py`: the tier that is in effect for a call
- `marks.py`: what the listing says of tiers
- `licensed_features.py`: in which plan GitLab says that it sells a feature
- `live_check.py`: holds the feature map against a live GitLab, by reading alone
- `notices.py`: the warnings of a call that succeeded on a tier that is too low
"""
