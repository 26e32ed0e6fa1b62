"""Jobs with variables, to-dos, files, packages, images and snippets, each with a check of the end state. Those above 45
are not of the forty-five that were tried on a live GitLab.

`Store` keeps what the recorded shop cannot: attached files, generic packages, and images, which the recorded GitLab had
no registry for. All its replies are synthetic.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from requests_toolbelt.multipart.decoder import MultipartDecoder

from tests.journeys.everyday_jobs import SHOP, Declares, Do, Job
from tests.support.standin.exchange import Received, Reply
from tests.support.standin.shop import Shop

PLACE = r"/projects/(?:77|acme%2Fshop)"
NOTHING = Reply.of(404, {"message": "404 Not found"})
TODO = {
    "id": 31,
    "action_name": "assigned",
    "target_type": "Issue",
    "target": {"title": "Coupons fail"},
    "target_url": "https://gitlab.example.com/acme/shop/-/issues/1",
    "body": "Coupons fail",
    "state": "pending",
    "author": {"username": "bob"},
    "project": {"path_with_namespace": "acme/shop"},
    "created_at": "2026-11-17T08:00:00.000Z",
}
TAGS = {"latest": "2026-11-17", "dev-1": "2026-01-02", "dev-2": "2026-01-03", "v1.0.0": "2026-01-04"}


@dataclass(slots=True)
class Store:
    uploads: dict[str, bytes] = field(default_factory=dict)
    packages: dict[tuple[str, str, str], bytes] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=lambda: dict(TAGS))
    """When each tag of the one repository was made."""
    todos: dict[int, dict[str, Any]] = field(
        default_factory=lambda: {31: dict(TODO), 32: {**TODO, "id": 32, "body": "Review me"}}
    )
    snippets: list[dict[str, Any]] = field(default_factory=list)

    def owns(self, received: Received) -> bool:
        return bool(re.search(r"/(uploads|packages|registry|todos|snippets)(/|$)", received.route))

    def reply_to(self, received: Received) -> Reply:
        for pattern, act in ACTS.items():
            if match := re.fullmatch(pattern, f"{received.method} {received.route}"):
                return act(self, match, received)
        return NOTHING


def _attach(store: Store, match: re.Match[str], received: Received) -> Reply:
    [part] = MultipartDecoder(received.body, received.headers["content-type"]).parts
    named = re.search(r'filename="([^"]+)"', part.headers[b"Content-Disposition"].decode())
    assert named, part.headers
    name, number = named[1], len(store.uploads) + 1
    url = f"/uploads/{number:032x}/{name}"
    store.uploads[url] = part.content
    return Reply.of(201, {"id": number, "alt": name, "url": url, "markdown": f"![{name}]({url})"})


def _put_package(store: Store, match: re.Match[str], received: Received) -> Reply:
    name, version, file_name = match.groups()
    store.packages[name, version, file_name] = received.body
    assert dict(received.params)["select"] == "package_file"
    answer = {"id": len(store.packages), "package_id": 1, "file_name": file_name, "size": len(received.body)}
    return Reply.of(201, answer)


def _get_package(store: Store, match: re.Match[str], received: Received) -> Reply:
    name, version, file_name = match.groups()
    content = store.packages.get((name, version, file_name))
    return NOTHING if content is None else Reply.of(200, content)


def _repositories(store: Store, match: re.Match[str], received: Received) -> Reply:
    tags = {"tags": _tag_rows(store)} if dict(received.params).get("tags") == "true" else {}
    return Reply.of(200, [{"id": 5, "name": "", "path": "acme/shop", "project_id": 77, **tags}])


def _tag_rows(store: Store) -> list[dict[str, str]]:
    return [{"name": name, "location": f"r/acme/shop:{name}"} for name in store.tags]


def _tags(store: Store, match: re.Match[str], received: Received) -> Reply:
    return Reply.of(200, _tag_rows(store))


def _tag(store: Store, match: re.Match[str], received: Received) -> Reply:
    if match[1] not in store.tags:
        return NOTHING
    return Reply.of(200, {"name": match[1], "created_at": store.tags[match[1]], "total_size": 1024})


def _delete_tag(store: Store, match: re.Match[str], received: Received) -> Reply:
    return Reply.of(200) if store.tags.pop(match[1], None) else NOTHING


def _delete_tags(store: Store, match: re.Match[str], received: Received) -> Reply:
    asked = dict(received.params)
    fitting = [
        name for name in store.tags if re.fullmatch(asked["name_regex_delete"], name) and name != "latest"
    ]
    newest = sorted(fitting, key=lambda name: store.tags[name], reverse=True)[: int(asked.get("keep_n", 0))]
    for name in fitting:
        if name not in newest:
            del store.tags[name]
    return Reply.of(202, 202)


def _todos(store: Store, match: re.Match[str], received: Received) -> Reply:
    wanted = dict(received.params).get("state", "pending")
    return Reply.of(200, [each for each in store.todos.values() if each["state"] == wanted])


def _todo_done(store: Store, match: re.Match[str], received: Received) -> Reply:
    todo = store.todos.get(int(match[1]))
    if todo is None:
        return NOTHING
    todo["state"] = "done"
    return Reply.of(201, todo)


def _snippet(store: Store, match: re.Match[str], received: Received) -> Reply:
    sent = json.loads(received.body)
    files = [{"path": each["file_path"]} for each in sent["files"]]
    store.snippets.append(sent)
    return Reply.of(201, {**sent, "id": 900, "files": files, "web_url": "https://gitlab.example.com/s/900"})


_TAGS = rf"{PLACE}/registry/repositories/5/tags"
_GENERIC = rf"{PLACE}/packages/generic/([^/]+)/([^/]+)/([^/]+)"
ACTS = {
    rf"POST {PLACE}/uploads": _attach,
    rf"PUT {_GENERIC}": _put_package,
    rf"GET {_GENERIC}": _get_package,
    rf"GET {PLACE}/registry/repositories": _repositories,
    rf"GET {_TAGS}": _tags,
    rf"DELETE {_TAGS}": _delete_tags,
    rf"GET {_TAGS}/([^/]+)": _tag,
    rf"DELETE {_TAGS}/([^/]+)": _delete_tag,
    r"GET /todos": _todos,
    r"POST /todos/(\d+)/mark_as_done": _todo_done,
    rf"POST {PLACE}/snippets": _snippet,
}

JOBS: list[Job] = []
job = Declares(JOBS)


def variable_is_set(shop: Shop) -> None:
    assert shop.thing("projects/77/variables", "DEPLOY_ENV")["value"] == "staging-7421"


@job(
    22, "Set the CI variable DEPLOY_ENV of acme/shop to staging-7421, masked in logs.", leaves=variable_is_set
)
async def set_variable(do: Do, shop: Shop) -> None:
    made = await do("manage_variable", "set", **SHOP, key="DEPLOY_ENV", value="staging-7421", masked=True)
    assert made["created"]["masked"] is True and "staging-7421" not in json.dumps(made)


@job(48, "What is on my to-do list? Tick the first one off.", beside=Store)
async def tick_off(do: Do, shop: Shop) -> None:
    first = {"todo_id": {"from": 0, "field": "items.0.id"}}
    found, ticked = await do.batch(("browse_todos", "list", {}), ("manage_todo", "mark_done", first))
    assert ([each["id"] for each in found["items"]], ticked["id"]) == ([31, 32], 31)
    assert [each["state"] for each in do.beside.todos.values()] == ["done", "pending"]


@job(26, "Comment on issue 1 with this screenshot.", beside=Store)
async def attach(do: Do, shop: Shop) -> None:
    picture = {"filename": "shot.png", "content": "iVBORw0KGgo=", "encoding": "base64"}
    await do("manage_discussion", "create_note", **SHOP, issue_iid=1, body="Look:", attached_files=[picture])
    [(url, content)] = do.beside.uploads.items()
    assert content == b"\x89PNG\r\n\x1a\n"
    notes = shop.things["projects/77/issues/1/notes"].values()
    assert [note["body"] for note in notes if url in note["body"]] == [f"Look:\n\n![shot.png]({url})"]


@job(46, "Publish tool 2.0.0 as a generic package, and check what is in it.", beside=Store)
async def package(do: Do, shop: Shop) -> None:
    where = {**SHOP, "package_name": "tool", "package_version": "2.0.0", "file_name": "tool.sh"}
    script = {"filename": "tool.sh", "content": "echo 2\n"}
    upload = {**where, "package_file": script}
    _, read = await do.batch(("manage_package", "upload", upload), ("browse_packages", "download", where))
    assert do.beside.packages == {("tool", "2.0.0", "tool.sh"): b"echo 2\n"}
    assert "echo 2" in read["text"]


@job(47, "Which images are in the registry? Delete the old dev ones and v1.0.0.", beside=Store)
async def old_images(do: Do, shop: Shop) -> None:
    [repository] = (await do("browse_registry", "list", **SHOP, tags=True))["items"]
    assert repository["tags"] == ["latest", "dev-1", "dev-2", "v1.0.0"]
    old = {"name_regex_delete": "dev-.*", "older_than": "7d", "keep_n": 1, "tag_names": ["v1.0.0"]}
    told = await do("manage_registry", "delete_tags", **SHOP, repository_id=repository["id"], **old)
    assert (told["started"], told["deleted"]) == (True, ["v1.0.0"])
    assert list(do.beside.tags) == ["latest", "dev-2"]


@job(49, "Put this query into a snippet of the project.", beside=Store)
async def snippet(do: Do, shop: Shop) -> None:
    files = [{"file_path": "orders.sql", "content": "select 1;\n"}]
    made = await do("manage_snippet", "create", **SHOP, title="Orders", visibility="private", files=files)
    assert made["files"] == ["orders.sql"]
    assert [each["title"] for each in do.beside.snippets] == ["Orders"]
