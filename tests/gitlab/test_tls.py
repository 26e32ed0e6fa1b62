from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.faults import Unreachable, UnreachableReason
from tests.support.fault_server import Connection, FaultServer, Received, dropping, replying
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

TODAY = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Certificate:
    file: Path
    server: ssl.SSLContext


def certificate(
    folder: Path, *, address: str = "127.0.0.1", ends: datetime.datetime = TODAY + DAY
) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "gitlab on loopback")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(TODAY - 3 * DAY)
        .not_valid_after(ends)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(exist_ok=True)
    public, private = folder / "public.pem", folder / "private.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return Certificate(public, context)


async def test_a_self_signed_certificate_is_not_trusted_and_nothing_is_sent(tmp_path: Path) -> None:
    with FaultServer(replying(200, {}), tls=certificate(tmp_path).server) as server:
        with pytest.raises(Unreachable) as caught:
            await upstream_at(server.url).as_caller("t").get("/version")
        assert (caught.value.reason, caught.value.sent, caught.value.attempts) == (
            UnreachableReason.TLS,
            False,
            1,
        )
        assert server.received == []


@pytest.mark.parametrize(
    "fault", [{"ends": TODAY - DAY}, {"address": "127.0.0.2"}], ids=["expired", "wrong name"]
)
async def test_a_certificate_that_is_expired_or_of_another_name_is_not_trusted(
    tmp_path: Path, fault: dict[str, object]
) -> None:
    made = certificate(tmp_path, **fault)  # type: ignore[arg-type]
    with FaultServer(replying(200, {}), tls=made.server) as server:
        with pytest.raises(Unreachable) as caught:
            await upstream_at(server.url, verify=str(made.file)).as_caller("t").get("/version")
        assert (caught.value.reason, caught.value.sent) == (UnreachableReason.TLS, False)
        assert server.received == []


async def test_a_ca_file_makes_a_private_certificate_trusted(tmp_path: Path) -> None:
    made = certificate(tmp_path)
    with FaultServer(replying(200, {"version": "17.2.0"}), tls=made.server) as server:
        upstream = upstream_at(server.url, verify=str(made.file))
        assert (await upstream.as_caller("t").get("/version")).body == {"version": "17.2.0"}
        upstream.close()


async def test_with_certificate_checks_off_there_is_an_answer_and_no_warning(tmp_path: Path) -> None:
    with FaultServer(replying(200, {"version": "17.2.0"}), tls=certificate(tmp_path).server) as server:
        upstream = upstream_at(server.url, verify=False)
        assert (await upstream.as_caller("t").get("/version")).body == {"version": "17.2.0"}
        upstream.close()


async def test_an_answer_lost_over_tls_is_lost_and_no_certificate_problem(tmp_path: Path) -> None:
    made = certificate(tmp_path)
    with FaultServer(dropping, tls=made.server) as server:
        with pytest.raises(Unreachable) as caught:
            await (
                upstream_at(server.url, verify=str(made.file))
                .as_caller("t")
                .send(Request("POST", "/projects", body={}))
            )
        assert (caught.value.reason, caught.value.sent) == (UnreachableReason.LOST, True)
        assert len(server.received) == 1


@pytest.mark.parametrize(
    "begun", [b"", b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":'], ids=["headers", "body"]
)
async def test_cancelling_cuts_a_tls_connection_too(tmp_path: Path, begun: bytes) -> None:
    made = certificate(tmp_path)
    arrived = anyio.Event()

    def stalling(_: Received, connection: Connection) -> None:
        connection.send(begun)
        anyio.from_thread.run_sync(arrived.set, token=here)
        connection.wait_until_cut()

    here = anyio.lowlevel.current_token()
    with FaultServer(stalling, tls=made.server) as server:
        upstream = upstream_at(server.url, verify=str(made.file))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(upstream.as_caller("t").get, "/projects/1")
            await arrived.wait()
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(server.connections[0].cut.wait, 15)


async def test_an_unreachable_proxy_is_reported_as_a_proxy_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(Unreachable) as caught:
        await upstream_at("https://gitlab.example.com").as_caller("t").get("/version")
    assert (caught.value.reason, caught.value.sent) == (UnreachableReason.PROXY, False)


async def test_a_request_that_a_proxy_will_not_connect_was_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer(replying(407)) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(Unreachable) as caught:
            await (
                upstream_at("https://gitlab.example.com")
                .as_caller("secret")
                .send(Request("POST", "/projects", body={}))
            )
        assert (caught.value.reason, caught.value.sent) == (UnreachableReason.PROXY, False)
        assert {received.method for received in proxy.received} == {"CONNECT"}
        assert not any("private-token" in received.headers for received in proxy.received)
