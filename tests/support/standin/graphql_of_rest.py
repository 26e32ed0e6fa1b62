"""GraphQL answers that nobody recorded, made of what REST answers to the same caller. All of them are synthetic."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode

from tests.support.standin.exchange import API, Received, Reply


@dataclass(frozen=True, slots=True)
class GraphQLOfRest:
    """A part of the stand-in: `gitlab.add(GraphQLOfRest(gitlab.reply_to))`."""

    ask: Callable[[Received], Reply]

    def owns(self, received: Received) -> bool:
        return received.path == "/api/graphql" and self._answer_of(received) is not None

    def reply_to(self, received: Received) -> Reply:
        answer = self._answer_of(received)
        assert answer is not None
        return Reply.of(200, {"data": answer(received, received.json.get("variables") or {})})

    def _answer_of(self, received: Received) -> Callable[[Received, Mapping[str, Any]], Any] | None:
        query = received.json["query"]
        if "rawTextBlob" in query:
            return self._about_project
        if "p1: project" in query:
            return self._reviews
        return self._inbox if "reviewRequestedMergeRequests" in query else None

    def _reviews(self, received: Received, asked: Mapping[str, Any]) -> Any:
        every = self._get(received, "/merge_requests", scope="all", state="all", per_page="100") or []
        told = {}
        for name in (each for each in asked if each.startswith("p")):
            wanted = {f"{asked[name]}!{iid}" for iid in asked[name.replace("p", "i", 1)]}
            found = [each for each in every if each["references"]["full"] in wanted]
            nodes = [{"iid": str(each["iid"]), "reviewers": {"nodes": _reviewers(each)}} for each in found]
            told[name] = {"mergeRequests": {"nodes": nodes}}
        return told

    def _get(self, received: Received, path: str, **query: str) -> Any:
        """The body of a 200; None for a refusal."""
        asked = replace(received, method="GET", path=f"{API}{path}", query=urlencode(query), body=b"")
        reply = self.ask(asked)
        return json.loads(reply.body) if reply.status == 200 else None

    def _about_project(self, received: Received, asked: Mapping[str, Any]) -> Any:
        path = f"/projects/{quote(asked['p'], safe='')}"
        project = self._get(received, path)
        if project is None:
            return {"project": None}
        merge_requests = self._get(received, f"{path}/merge_requests", state="opened", per_page="100")
        releases = self._get(received, f"{path}/releases")
        names = {"tagName": "tag_name", "name": "name", "releasedAt": "released_at"}
        return {
            "project": {
                "languages": [
                    {"name": name, "share": share}
                    for name, share in (self._get(received, f"{path}/languages") or {}).items()
                ],
                "mergeRequests": None if merge_requests is None else {"count": len(merge_requests)},
                "releases": None
                if releases is None
                else {
                    "nodes": [
                        {
                            **{ours: each[theirs] for ours, theirs in names.items()},
                            "upcomingRelease": each["upcoming_release"],
                        }
                        for each in releases
                    ]
                },
                "repository": {
                    "blobs": {
                        "nodes": [
                            {
                                "path": file["file_path"],
                                "size": str(file["size"]),
                                "rawTextBlob": base64.b64decode(file["content"]).decode(),
                            }
                            for each in asked["f"]
                            if (file := self._file(received, path, each, project["default_branch"]))
                        ]
                    }
                },
            }
        }

    def _file(self, received: Received, path: str, file: str, branch: str) -> Any:
        return self._get(received, f"{path}/repository/files/{quote(file, safe='')}", ref=branch)

    def _inbox(self, received: Received, asked: Mapping[str, Any]) -> Any:
        me = received.caller
        reviews = {"scope": "all", "reviewer_username": me}
        by_field = {
            "reviewRequestedMergeRequests": reviews,
            "authoredMergeRequests": {"scope": "created_by_me"},
            "assignedMergeRequests": {"scope": "assigned_to_me"},
        }
        told: dict[str, Any] = {"username": me}
        for name, filters in by_field.items():
            found = self._get(received, "/merge_requests", state="opened", **filters) or []
            told[name] = {"count": len(found), "nodes": [_node(each) for each in found]}
        return {"currentUser": told}


def _node(merge_request: Mapping[str, Any]) -> dict[str, Any]:
    """REST shows one check that fails; who has reviewed and how the pipeline did, it does not."""
    status = merge_request["detailed_merge_status"].upper()
    return {
        "iid": str(merge_request["iid"]),
        "title": merge_request["title"],
        "webUrl": merge_request["web_url"],
        "project": {"fullPath": merge_request["references"]["full"].partition("!")[0]},
        "author": {"username": merge_request["author"]["username"]},
        "detailedMergeStatus": status,
        "mergeabilityChecks": [] if status == "MERGEABLE" else [{"identifier": status, "status": "FAILED"}],
        "headPipeline": None,
        "reviewers": {"nodes": _reviewers(merge_request)},
    }


def _reviewers(merge_request: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"username": each["username"], "mergeRequestInteraction": {"reviewState": "UNREVIEWED"}}
        for each in merge_request["reviewers"]
    ]
