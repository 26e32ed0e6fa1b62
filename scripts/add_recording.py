"""Put what `gitlab-mcp --record NEW.json` recorded into the cassettes of its nouns.

    add_recording.py NEW.json [--as CALLER] [--cassettes FOLDER]

They go to the folder of the version they were recorded of, or to the newest one.

The host becomes gitlab.example.com, secrets and e-mail addresses are taken out, of the headers those are kept that a
client reads, and what a cassette answers already is left out. Read the recording first: text that people wrote stays.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from make_cassettes import (
    ADDED,
    DEFAULT_CALLER,
    HOST,
    ROOT,
    Exchange,
    Question,
    extend_cassette,
    kept_headers,
    life_cycles,
    route_guess,
    without_default_paging,
)

from gitlab_mcp.recording.cassette import Interaction, load_cassettes
from gitlab_mcp.recording.scrub import Scrubber

# GitLab may live below a path of its host.
API = re.compile(r"/api/(?:v4|graphql)\b")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recording", type=Path)
    parser.add_argument("--as", dest="caller", default=DEFAULT_CALLER, help="whose answers they become")
    parser.add_argument("--cassettes", type=Path, help="a folder of cassettes")
    chosen = parser.parse_args()
    recorded = list(load_cassettes(chosen.recording))
    origin = origin_of(recorded)
    cassettes = chosen.cassettes or folder_for(origin)
    known = {
        asked(each) for file in cassettes.glob("*.json") for each in map(as_exchange, load_cassettes(file))
    }
    new: dict[str, list[Exchange]] = {}
    exchanges = [scrubbed(each, chosen.caller) for each in recorded]
    for exchange in life_cycles((each for each in exchanges if asked(each) not in known), set()):
        new.setdefault(exchange.noun, []).append(exchange)
    for noun, found in sorted(new.items()):
        extend_cassette(cassettes / f"{noun}.json", ({**each.as_vcr(), ADDED: origin} for each in found))
        for each in found:
            print(f"{noun}.json: {each.method} {each.path} {each.status}")
    print(
        f"{sum(map(len, new.values()))} added, {len(exchanges) - sum(map(len, new.values()))} known already"
    )
    return 0


def as_exchange(interaction: Interaction) -> Exchange:
    url = urlsplit(interaction.uri.removeprefix(root_of(interaction.uri)))
    return Exchange(
        label="",
        caller=interaction.alias,
        method=interaction.method,
        path=url.path,
        query=tuple(parse_qsl(url.query, keep_blank_values=True)),
        body=interaction.request_body,
        status=interaction.status,
        headers=tuple(interaction.headers.items()),
        answer=interaction.content.decode("utf-8", "surrogateescape"),
        route=route_guess(url.path),
    )


def asked(exchange: Exchange) -> Question:
    """The question, whatever order its query and its JSON are in."""
    query = tuple(sorted(without_default_paging(exchange.query)))
    return exchange.caller, exchange.method, exchange.path, query, in_order(exchange.body)


def in_order(body: str | None) -> str | None:
    try:
        return json.dumps(json.loads(body or ""), sort_keys=True)
    except ValueError:
        return body


def scrubbed(interaction: Interaction, caller: str) -> Exchange:
    exchange, scrubber, root = as_exchange(interaction), Scrubber(emails=True), root_of(interaction.uri)
    headers = {name.lower(): value.replace(root, HOST) for name, value in exchange.headers}
    return Exchange(
        label="",
        caller=caller,
        method=exchange.method,
        path=scrubber.text(exchange.path),
        query=tuple(parse_qsl(scrubber.query(urlsplit(interaction.uri).query), keep_blank_values=True)),
        body=None if exchange.body is None else scrubber.body(exchange.body.replace(root, HOST)),
        status=exchange.status,
        headers=tuple(kept_headers(scrubber.headers(headers))),
        answer=scrubber.body(exchange.answer.replace(root, HOST)),
        route=exchange.route,
    )


def root_of(uri: str) -> str:
    """`https://host/relative/root`."""
    start = API.search(uri)
    return uri[: start.start()] if start else "{0.scheme}://{0.netloc}".format(urlsplit(uri))


def folder_for(origin: str) -> Path:
    """The cassettes of the version that was recorded, else those of the newest."""
    folders = sorted(
        (each for each in (ROOT / "cassettes").iterdir() if each.is_dir()),
        key=lambda each: [int(part) for part in each.name.split(".")],
    )
    same = (each for each in folders if origin.startswith(f"GitLab {each.name}."))
    return next(same, folders[-1])


def origin_of(recorded: Iterable[Interaction]) -> str:
    """The version of the recorded GitLab, where it was asked for it."""
    for each in recorded:
        if each.status == 200 and each.uri.endswith(("/metadata", "/version")):
            return f"GitLab {json.loads(each.content)['version']}"
    return "another GitLab"


if __name__ == "__main__":
    sys.exit(main())
