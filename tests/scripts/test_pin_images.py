"""Images are pinned by digest in the files themselves; what no registry was asked for is said to be missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from pin_images import FILES, ROOT, named_in, pin, unpinned


def made_up(image: str) -> str:
    return f"sha256:{image.encode().hex():0<64}"[:71]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for file in FILES:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def test_every_image_of_others_is_found_and_none_of_ours(copied: Path) -> None:
    compose = yaml.safe_load((copied / "compose.yaml").read_text())
    objects = yaml.safe_load_all((copied / "deploy/kubernetes.yaml").read_text())
    pods = [each["spec"]["template"]["spec"] for each in objects if "template" in each.get("spec", {})]
    images = {service["image"] for service in compose["services"].values()}
    images |= {container["image"] for pod in pods for container in pod["containers"]}
    of_others = {image.partition("@")[0] for image in images if not image.startswith("gitlab-mcp-server")}
    [base] = [
        line for line in (copied / "Dockerfile").read_text().splitlines() if line.startswith("ARG BASE=")
    ]
    assert named_in(copied).keys() == of_others | {base.removeprefix("ARG BASE=").partition("@")[0]}


def test_pinning_writes_each_digest_wherever_the_image_is_named_and_can_be_done_again(copied: Path) -> None:
    digests = pin(copied, made_up)
    assert len(digests) >= 3 and unpinned(copied) == []
    text = "".join((copied / file).read_text() for file in FILES)
    assert text.count(f"redis:7-alpine@{digests['redis:7-alpine']}") == 2
    assert text.count("gitlab-mcp-server@") == 0
    first = [(copied / file).read_text() for file in FILES]
    pin(copied, made_up)
    assert [(copied / file).read_text() for file in FILES] == first
    pin(copied, lambda image: "sha256:" + "0" * 64)
    assert set.union(*named_in(copied).values()) == {"sha256:" + "0" * 64}


def test_an_image_with_two_digests_or_without_one_is_not_pinned(copied: Path) -> None:
    digests = pin(copied, made_up)
    compose = copied / "compose.yaml"
    redis = digests["redis:7-alpine"]
    compose.write_text(compose.read_text().replace(redis, "sha256:" + "1" * 64))
    assert unpinned(copied) == ["redis:7-alpine"]
    compose.write_text(compose.read_text().replace("@sha256:" + "1" * 64, ""))
    assert unpinned(copied) == ["redis:7-alpine"]
