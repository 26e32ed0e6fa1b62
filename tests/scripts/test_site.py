from __future__ import annotations

import re
from pathlib import Path

import pytest
import site_pages

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def test_every_guide_and_reference_page_is_in_the_list_at_the_side() -> None:
    listed = set(re.findall(r": (docs/\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))
    pages = {str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*/*.md")}
    assert {page for page in pages if not page.startswith("docs/decisions/")} <= listed


def test_the_pages_keep_their_places_and_decisions_get_a_list(tmp_path: Path) -> None:
    site_pages.put_in_place(tmp_path)
    decisions = (tmp_path / "docs/decisions/README.md").read_text("utf-8")
    assert set(re.findall(r"\((.+\.md)\)", decisions)) == {
        path.name for path in (ROOT / "docs/decisions").glob("*.md")
    }
    assert "](docs/decisions/README.md)" in (tmp_path / "README.md").read_text("utf-8")
    assert (tmp_path / "deploy/nginx.conf").exists()


def test_every_link_between_pages_leads_to_something_that_is_put_in_place(tmp_path: Path) -> None:
    site_pages.put_in_place(tmp_path)
    broken = [
        f"{page.relative_to(tmp_path)}: {link}"
        for page in tmp_path.rglob("*.md")
        for link in LINK.findall(FENCED.sub("", page.read_text("utf-8")))
        if not re.match(r"https?://|#", link) and not (page.parent / link.partition("#")[0]).exists()
    ]
    assert broken == []


@pytest.mark.parametrize(
    "asks",
    [
        '<script src="https://cdn.example/a.js"></script>',
        "<script async src=//cdn.example/a.js></script>",
        '<link rel="stylesheet" href="https://fonts.example/css?family=Roboto">',
        '<link href="https://fonts.example" rel="preconnect" crossorigin>',
        '<img alt="" src="http://badge.example/a.svg">',
        "<style>@import 'https://fonts.example/a.css'</style>",
        "<style>a{background:url(//cdn.example/a.png)}</style>",
    ],
)
def test_what_a_page_would_fetch_from_elsewhere_is_found(asks: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<p>before</p>{asks}<p>after</p>", "utf-8")
    assert len(list(site_pages.asked_of_others(tmp_path))) == 1


def test_links_and_own_files_are_not_fetched_from_elsewhere(tmp_path: Path) -> None:
    own = '<a href="https://docs.example/">x</a><script src="assets/a.js"></script><link rel="canonical" href="https://a.example">'
    (tmp_path / "page.html").write_text(own, "utf-8")
    assert list(site_pages.asked_of_others(tmp_path)) == []
