"""One account of one GitLab: where its token is kept, and how GitLab is asked about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gitlab_mcp.accounts.credential import Credential
from gitlab_mcp.accounts.keeping import AccountName, TokenKeeper
from gitlab_mcp.accounts.kept_account import KeptAccount

if TYPE_CHECKING:
    from gitlab_mcp.accounts.oauth import OAuth


@dataclass(frozen=True, slots=True)
class Account:
    name: AccountName
    folder: Path
    """Of what is kept where there is no keyring, and of the locks."""
    verify: bool | str
    """Whether GitLab's certificate is checked, or the file of the authorities that are trusted."""
    connect_timeout: float
    read_timeout: float
    deadline: float

    def keeper(self) -> TokenKeeper:
        return TokenKeeper(self.folder)

    def kept(self) -> KeptAccount:
        return KeptAccount(self.name, self.keeper(), self._renewed, deadline=self.deadline)

    def oauth(self, client_id: str) -> OAuth:
        # Here, not above: a server whose token was pasted signs in nowhere.
        from gitlab_mcp.accounts.oauth import OAuth
        from gitlab_mcp.gitlab.oauth_endpoints import OAuthEndpoints

        endpoints = OAuthEndpoints(self.name.url, self.verify, self.connect_timeout, self.read_timeout)
        return OAuth(endpoints, client_id)

    def _renewed(self, credential: Credential) -> Credential:
        assert credential.renewal is not None
        return self.oauth(credential.renewal.client_id).renewed(credential)
