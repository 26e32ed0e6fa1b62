from __future__ import annotations

from pathlib import Path

import pytest

from gitlab_mcp.tiers.feature_map import SEVERAL_ENTRIES, TIERS, Alternative, Feature, TierMapError, tier_map
from tests.support.for_each import for_each

FEATURES = tier_map().features


def own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_at_the_top_is_the_one_in_the_package() -> None:
    import gitlab_mcp

    packaged = Path(gitlab_mcp.__file__).parent / "tier_features.yaml"
    assert packaged.resolve() == (Path(__file__).parents[2] / "tier_features.yaml").resolve()


def test_the_map_knows_every_feature() -> None:
    assert len(FEATURES) >= 115
    assert {feature.tier for feature in FEATURES.values()} == set(TIERS)


@for_each(FEATURES.values(), lambda feature: feature.key)
def test_a_feature_says_what_every_edition_does_without_it(feature: Feature) -> None:
    assert feature.without_it.keys() == {"ee_without_license", "gitlab_com_free", "ce"}
    assert feature.name[0].isupper()
    assert not feature.docs.startswith(("/", "http"))


@for_each([feature for feature in FEATURES.values() if feature.alternatives], lambda feature: feature.key)
def test_an_alternative_is_an_action_on_a_lower_tier_with_a_reason(feature: Feature) -> None:
    for alternative in feature.alternatives:
        if alternative.action is not None:
            tool, action = alternative.action.split(" ")
            assert tool.startswith(("browse_", "manage_", "search"))
            assert action.isidentifier()
        assert alternative.why.endswith(".")
        assert TIERS.index(alternative.tier) <= TIERS.index(feature.tier)


def test_arguments_the_caller_did_not_give_are_left_out() -> None:
    alternative = Alternative(
        action="manage_issue update",
        why="So.",
        arguments={"issue_iid": "$issue_iid", "add_labels": ["weight: $weight"]},
    )
    assert alternative.with_arguments({"issue_iid": 7, "title": "x"})["arguments"] == {"issue_iid": 7}
    whole = alternative.with_arguments({"issue_iid": 7, "weight": 3})["arguments"]
    assert whole == {"issue_iid": 7, "add_labels": ["weight: 3"]}
    assert "arguments" not in alternative.with_arguments({})


def test_what_only_a_person_can_do_says_where() -> None:
    [place, *_] = FEATURES["epic_boards"].alternatives_on("Free", {})
    assert (place["where"], place["available_on"]) == ("Plan > Issue boards", "Free (UI only)")


def test_a_feature_that_became_free_was_paid_before() -> None:
    accounts = FEATURES["service_accounts"]
    assert [accounts.tier_in(version) for version in ("17.2.0-pre", "18.10.1", "18.11.0", None)] == [
        "Premium",
        "Premium",
        "Free",
        "Free",
    ]


def test_a_parameter_may_be_paid_for_some_values_only() -> None:
    links, assignees = FEATURES["issue_links_blocking"], FEATURES["multiple_issue_assignees"]
    assert links.is_needed_for("link_type", "blocks")
    assert not links.is_needed_for("link_type", "relates_to")
    assert assignees.only["assignee_ids"] == SEVERAL_ENTRIES
    assert not assignees.is_needed_for("assignee_ids", [1])
    assert assignees.is_needed_for("assignee_ids", [1, 2])


def test_a_file_of_the_operator_changes_one_key_and_keeps_the_rest(tmp_path: Path) -> None:
    changed = tier_map(own(tmp_path, "epics:\n  tier: Free\n"))
    assert changed["epics"].tier == "Free"
    assert changed["epics"].endpoints == FEATURES["epics"].endpoints
    assert changed["iterations"] == FEATURES["iterations"]
    assert tier_map()["epics"].tier == "Premium"


def test_a_file_of_the_operator_may_add_a_feature(tmp_path: Path) -> None:
    added = tier_map(own(tmp_path, "flying:\n  name: Flying\n  tier: Ultimate\n  docs: api/flying/\n"))
    assert added["flying"].tier == "Ultimate"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("epics:\n  teir: Free\n", "epics: unknown key teir"),
        ("epics:\n  tier: Gold\n", "epics: tier: Gold"),
        ("epics:\n  5: Free\n", "epics: unknown key 5"),
        ("epics:\n  name: ''\n", "epics: name: text is expected"),
        ("epics:\n  endpoints: GET /x\n", "epics: endpoints: a list is expected"),
        ("epics:\n  endpoints: [5]\n", "epics: endpoints: 0: text is expected"),
        ("epics:\n  without_it: Free\n", "epics: without_it: a mapping is expected"),
        ("epics:\n  without_it: {ce: Free}\n", "epics: without_it: ce: a mapping is expected"),
        (
            "epics:\n  without_it: {ce: {effect: works, basis: inferred, status: none}}\n",
            "epics: without_it: ce: status: a number is expected",
        ),
        ("epics:\n  without_it: {ee: {}}\n", "epics: without_it: unknown key ee"),
        (
            "epics:\n  without_it: {ce: {effect: gone, basis: code 18.9}}\n",
            "epics: without_it: ce: effect: gone",
        ),
        ("epics:\n  alternatives: [{action: a b}]\n", "epics: alternatives: 0: why"),
        ("epics:\n  alternatives: [{why: So.}]\n", "epics: alternatives: 0: either action or where"),
        ("epics:\n  earlier: [{before: soon, tier: Free}]\n", "epics: earlier: 0: before"),
        ("epics:\n  only: {weight: several}\n", "epics: only: weight"),
        ("epics:\n  parameters: {GET /x: [a]}\n  only: {a: b}\n", "epics: only: a: a list of values"),
        ("newcomer:\n  tier: Free\n", "newcomer: name: text is expected"),
        ("epics: Premium\n", "epics"),
        ("- epics\n", "mapping"),
        ("a: b: c\n", "own.yaml"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_file_and_key(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(TierMapError) as problem:
        tier_map(own(tmp_path, text))
    assert "own.yaml" in str(problem.value)
    assert named in str(problem.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TierMapError, match=r"nowhere\.yaml"):
        tier_map(tmp_path / "nowhere.yaml")
