"""Public keys of people and machines. A private key that was taken for one is not sent on: GitLab would refuse it, and
have seen it."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from gitlab_mcp.actions.fields import AlsoCalled, Expects, NonEmpty

_SSH: Final = re.compile(r"(ssh-|ecdsa-|sk-ssh-|sk-ecdsa-)[\w.@-]+ +[\w+/=]+( .*)?")
_GPG: Final = "-----BEGIN PGP PUBLIC KEY BLOCK-----"


def _an_ssh_key(key: str) -> str:
    if not _SSH.fullmatch(key.strip()):
        raise ValueError
    return key


def _a_gpg_key(key: str) -> str:
    if not key.strip().startswith(_GPG):
        raise ValueError
    return key


PublicSshKey = Annotated[
    NonEmpty,
    AfterValidator(_an_ssh_key),
    AlsoCalled("public_key", "ssh_key"),
    Field(description="The public half, like ssh-ed25519 AAAA…"),
    Expects("the public half of a key on one line, like ssh-ed25519 AAAA…; never the private half"),
]
PublicGpgKey = Annotated[
    NonEmpty,
    AfterValidator(_a_gpg_key),
    AlsoCalled("public_key", "gpg_key"),
    Expects(f"the armoured public half, which begins with {_GPG}; never the private half"),
]
