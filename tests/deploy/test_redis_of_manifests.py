"""The Redis that compose and Kubernetes start is started here with their own command lines."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from redis import Redis
from redis.exceptions import RedisError

from tests.gitlab.test_tls import certificate
from tests.support.redis_server import needs_redis

pytestmark = needs_redis

ROOT = Path(__file__).parents[2]
PASSWORD = "of-the-manifest"


def of_compose() -> list[str]:
    command: list[str] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["redis"]["command"]
    return [word.replace("$$", "$") for word in command]


def of_kubernetes() -> list[str]:
    objects = yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text())
    (redis,) = (
        each for each in objects if each["kind"] == "Deployment" and each["metadata"]["name"] == "redis"
    )
    container = redis["spec"]["template"]["spec"]["containers"][0]
    return [*container["command"], *container["args"]]


@pytest.mark.parametrize("command", [of_compose(), of_kubernetes()], ids=["compose", "kubernetes"])
def test_redis_starts_with_tls_and_the_password_of_the_secret(command: list[str], tmp_path: Path) -> None:
    public = certificate(tmp_path / "tls").file
    for name in ("redis.crt", "tls.crt"):
        shutil.copy(public, tmp_path / name)
    for name in ("redis.key", "tls.key"):
        shutil.copy(public.with_name("private.pem"), tmp_path / name)
    (tmp_path / "redis").write_text(PASSWORD)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    line = command[2]
    for folder in ("/run/secrets", "/run/redis", "/secrets", "/redis-tls"):
        line = line.replace(f"{folder}/", f"{tmp_path}/")
    assert "6379" in line
    server = subprocess.Popen(
        [*command[:2], line.replace("6379", str(port))],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"]},
    )
    try:
        context = ssl.create_default_context(cafile=str(public))
        assert _connects(port, context)
        address, ca = f"rediss://127.0.0.1:{port}", str(public)
        with Redis.from_url(address, password=PASSWORD, ssl_ca_certs=ca) as allowed:
            assert allowed.ping()
            assert allowed.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        with Redis.from_url(address, ssl_ca_certs=ca) as refused, pytest.raises(RedisError):
            refused.ping()
        shown = Path(f"/proc/{server.pid}/cmdline")
        assert not shown.exists() or PASSWORD.encode() not in shown.read_bytes()
    finally:
        server.kill()
        server.wait()


def _connects(port: int, context: ssl.SSLContext) -> bool:
    for _ in range(200):
        try:
            with (
                socket.create_connection(("127.0.0.1", port), 1) as plain,
                context.wrap_socket(plain, server_hostname="127.0.0.1"),
            ):
                return True
        except OSError:
            time.sleep(0.05)
    return False
