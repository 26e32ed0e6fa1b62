"""A real browser, spoken to over its debugging pipe: it opens a page as a person would, and tells what it asked for."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Page:
    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = os.fdopen(to_browser, "wb"), os.fdopen(from_browser, "rb")
        self._number = 0
        self.requested: list[str] = []
        """What the browser asked for, in order."""
        self.complaints: list[str] = []
        """What it wrote to its console: refused styles, errors."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        self._to.close()
        self._from.close()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the Chrome DevTools Protocol about this page."""
        return self._ask(method, session=self._session, **params)

    def open(self, url: str) -> None:
        self.ask("Page.navigate", url=url)
        while self._read().get("method") != "Page.loadEventFired":
            pass

    def look(self, *, width: int = 900, height: int = 900, dark: bool = False, scripts: bool = True) -> None:
        """How the page is looked at from now on."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)

    def tell(self, expression: str) -> Any:
        """What a JavaScript expression is here."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def picture(self) -> bytes:
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def _ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        self._to.write(json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        self._to.flush()
        while (answer := self._read()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _read(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._from.read(1)) != b"\0":
            assert byte, "the browser has ended"
            text += byte
        message: dict[str, Any] = json.loads(text)
        params = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        if message.get("method") == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        return message


@contextmanager
def browsing(profile: Path) -> Iterator[Page]:
    """`profile` is an empty folder for what the browser keeps."""
    assert BROWSER is not None
    our_read, its_write = os.pipe()
    its_read, our_write = os.pipe()

    def give_pipes() -> None:
        # It reads from 3 and writes to 4. Neither may be overwritten by the other on the way.
        os.dup2(its_read, 13)
        os.dup2(its_write, 14)
        os.dup2(13, 3)
        os.dup2(14, 4)

    process = subprocess.Popen(
        [BROWSER, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=give_pipes,
        close_fds=False,
        start_new_session=True,
    )
    os.close(its_read)
    os.close(its_write)
    page = Page(our_write, our_read)
    try:
        yield page
    finally:
        page.close()
        os.killpg(process.pid, 9)
        process.wait()
