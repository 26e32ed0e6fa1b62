"""A Redis that wants TLS and a password, and a key for confirmations that is not kept in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from redis import Redis

from gitlab_mcp.store.redis_store import KEY_PREFIX
from tests.gitlab.test_tls import certificate
from tests.support.guarded import delete_label, with_labels, writes
from tests.support.in_time import in_seconds
from tests.support.redis_server import RedisServer, needs_redis
from tests.support.served import ACCEPT, Served, call, refused, served
from tests.support.standin import StandIn

pytestmark = needs_redis

PASSWORD = "correct-horse-battery"
KEY = "0123456789abcdef0123456789abcdef"
UNGUARDED = ("--trust", "dangerous", "--quota", "writes=1000")


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """It speaks TLS alone, with a certificate that nobody knows."""
    public = certificate(tmp_path / "tls").file
    private = public.with_name("private.pem")
    with RedisServer("--requirepass", PASSWORD, certificate=public, key=private) as server:
        yield server


@pytest.fixture
def flags(tmp_path: Path, redis: RedisServer) -> tuple[str, ...]:
    """All that a server needs to reach that Redis."""
    secret = write(tmp_path / "redis.password", PASSWORD)
    ca = str(tmp_path / "tls" / "public.pem")
    return ("--redis", redis.url, "--redis-password-file", secret, "--redis-ca-file", ca, *UNGUARDED)


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def asked(server: Served, arguments: dict[str, Any]) -> dict[str, Any]:
    answer = httpx2.post(
        server.url,
        json=call("manage_label", arguments),
        headers={**ACCEPT, "Private-Token": "alice"},
        timeout=30,
    )
    result: dict[str, Any] = answer.json()["result"]
    return dict(result.get("structuredContent") or {}) or {"text": result["content"][0]["text"]}


def is_ready(server: Served) -> bool:
    return httpx2.get(server.at("/readyz"), timeout=30).status_code == 200


def test_two_servers_share_a_redis_over_tls_with_its_password(
    standin: StandIn, flags: tuple[str, ...]
) -> None:
    with_labels(standin, "bug")
    with served(standin.url, *flags) as one, served(standin.url, *flags) as other:
        assert is_ready(one)
        token = asked(one, delete_label())["confirmation_token"]
        assert "error_code" not in asked(other, delete_label(confirmation_token=token))
        again = asked(one, delete_label(confirmation_token=token))
        assert again["error_code"] == "CONFIRMATION_USED"
    assert len(writes(standin)) == 1


@pytest.mark.parametrize("missing", ["--redis-ca-file", "--redis-password-file"])
def test_without_the_authority_or_the_password_nothing_is_confirmed(
    missing: str, standin: StandIn, flags: tuple[str, ...]
) -> None:
    with_labels(standin, "bug")
    at = flags.index(missing)
    with served(standin.url, *flags[:at], *flags[at + 2 :]) as server:
        assert not is_ready(server)
        assert asked(server, delete_label())["error_code"] == "STORE_UNAVAILABLE"
        server.stop()
        server.ended()
        assert PASSWORD not in server.log
    assert not writes(standin)


def test_a_password_that_is_replaced_is_read_again(
    tmp_path: Path, standin: StandIn, redis: RedisServer, flags: tuple[str, ...]
) -> None:
    with_labels(standin, "bug")
    with served(standin.url, *flags) as server:
        assert asked(server, delete_label())["confirmation_token"]
        ca = str(tmp_path / "tls" / "public.pem")
        administrator = Redis.from_url(redis.url, password=PASSWORD, ssl_ca_certs=ca)
        administrator.config_set("requirepass", "another-battery")
        write(tmp_path / "redis.password", "another-battery")
        administrator.client_kill_filter(_type="normal", skipme=True)
        administrator.close()
        # Whoever uses the closed connection next finds it so, and Redis is left alone for a second.
        with in_seconds(10):
            while "confirmation_token" not in asked(server, delete_label()):
                time.sleep(0.2)


def test_a_name_in_the_address_goes_with_the_password_of_the_file(
    tmp_path: Path, standin: StandIn, redis: RedisServer, flags: tuple[str, ...]
) -> None:
    with_labels(standin, "bug")
    ca = str(tmp_path / "tls" / "public.pem")
    administrator = Redis.from_url(redis.url, password=PASSWORD, ssl_ca_certs=ca)
    administrator.acl_setuser("mcp", enabled=True, passwords=["+of-its-own"], keys="*", commands=["+@all"])
    administrator.acl_setuser("default", enabled=False)
    administrator.close()
    write(tmp_path / "redis.password", "of-its-own")
    named = redis.url.replace("://", "://mcp@")
    with served(standin.url, "--redis", named, *flags[2:]) as server:
        assert is_ready(server)
        assert asked(server, delete_label())["confirmation_token"]


def test_with_a_key_of_its_own_no_key_is_kept_and_redis_alone_makes_no_token(
    tmp_path: Path, standin: StandIn, redis: RedisServer, flags: tuple[str, ...]
) -> None:
    with_labels(standin, "bug")
    key = ("--confirmation-key-file", write(tmp_path / "key", KEY))
    other_key = ("--confirmation-key-file", write(tmp_path / "other", KEY[::-1]))
    with (
        served(standin.url, *flags, *key) as one,
        served(standin.url, *flags, *key) as same,
        served(standin.url, *flags, *other_key) as other,
    ):
        token = asked(one, delete_label())["confirmation_token"]
        stranger = asked(other, delete_label(confirmation_token=token))
        assert stranger["error_code"] == "CONFIRMATION_INVALID"
        assert "error_code" not in asked(same, delete_label(confirmation_token=token))
    ca = str(tmp_path / "tls" / "public.pem")
    with Redis.from_url(redis.url, password=PASSWORD, ssl_ca_certs=ca) as inside:
        assert not inside.exists(KEY_PREFIX + "key")
        assert inside.dbsize() > 0


@pytest.mark.parametrize("kept", ["short", "", "a" * 40])
def test_a_key_that_can_be_guessed_stops_the_start(kept: str, tmp_path: Path, standin: StandIn) -> None:
    key = write(tmp_path / "key", kept)
    stopped = refused(standin.url, "--http", "127.0.0.1:0", "--confirmation-key-file", key)
    assert stopped.returncode == 2
    assert "confirmation_key_file" in stopped.stderr


def test_a_password_in_the_address_and_one_in_a_file_stop_the_start(tmp_path: Path, standin: StandIn) -> None:
    password = write(tmp_path / "password", PASSWORD)
    address = "redis://:in-the-address@127.0.0.1:1"
    stopped = refused(
        standin.url, "--http", "127.0.0.1:0", "--redis", address, "--redis-password-file", password
    )
    assert stopped.returncode == 2
    assert "redis" in stopped.stderr and "in-the-address" not in stopped.stderr + PASSWORD
