"""What a GitLab 19.3 says of its licensed features by GraphQL.

The shape of the answer was recorded, of an Enterprise Edition without a licence and of a Community Edition. The plans
are those of GitLab's code. That a licence makes a feature available is synthetic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gitlab_mcp.tiers.feature_map import rank
from tests.support.facts import facts
from tests.support.standin.exchange import Received, Reply

_TIERS = {"starter": "Premium", "premium": "Premium", "ultimate": "Ultimate"}
_ASKED = re.compile(r"(\w+): licensedFeatureAvailability\(feature: (\w+)\)")


@dataclass(slots=True)
class Licence:
    tier: str = "Free"
    plans: Mapping[str, str] = field(default_factory=lambda: facts("licensed_plans"))

    def owns(self, received: Received) -> bool:
        return asks_of_the_licence(received)

    def reply_to(self, received: Received) -> Reply:
        query = json.loads(received.body)["query"]
        kind = re.findall(r"(\w+)\(fullPath", query)[0]
        asked = dict(_ASKED.findall(query))
        if errors := [_no_such(kind, alias, name) for alias, name in asked.items() if name not in self.plans]:
            return Reply.of(200, {"errors": errors})
        told = {
            alias: {
                "available": rank(_TIERS[self.plans[name]]) <= rank(self.tier),
                "requiredPlan": self.plans[name],
            }
            for alias, name in asked.items()
        }
        return Reply.of(200, {"data": {kind: told}})


def asks_of_the_licence(received: Received) -> bool:
    return received.path == "/api/graphql" and b"licensedFeatureAvailability" in received.body


def _no_such(kind: str, alias: str, name: str) -> dict[str, object]:
    return {
        "message": f"Argument 'feature' on Field '{alias}' has an invalid value ({name}).",
        "path": ["query", kind, alias, "feature"],
        "extensions": {"code": "argumentLiteralsIncompatible"},
    }


NOT_TOLD = {
    "errors": [
        {
            "message": "Field 'licensedFeatureAvailability' doesn't exist on type 'Project'",
            "path": ["query", "project", "EPICS"],
            "extensions": {"code": "undefinedField"},
        }
    ]
}
"""What a Community Edition says, and an Enterprise Edition before 18.11."""
