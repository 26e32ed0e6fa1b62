"""GitLab answers some twenty flags for custom notifications. The events are those that are on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_events(settings: Mapping[str, Any]) -> dict[str, Any]:
    events = settings.get("events")
    if not isinstance(events, Mapping):
        return dict(settings)
    return {**settings, "events": [name for name, on in events.items() if on]}
