"""What leaves when the model is small, in which order, and what never does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.errors import BudgetError
from memory.llm.port import ModelInfo, Role
from memory.prompt.assembly import Prompt, build, to_messages
from memory.prompt.blocks import input_blocks, memory_blocks, prompt_block, window_blocks
from memory.prompt.budget import PER_MESSAGE, Tally, required
from memory.prompt.ledger import Block, Kind, Status
from memory.prompt.pins import share_pins
from memory.types import Scope
from tests.prompt.scene import BOB, GUILD, NOW, count, grouped, memory, message, section


def fit(blocks: list[Block], budget: int) -> Prompt:
    return build(blocks, info=ModelInfo("m", budget + 1_024, "bytes", exact=True), reserve=0)


def cost(blocks: list[Block]) -> int:
    return sum(count(m.text) + PER_MESSAGE for m in to_messages(blocks))


def extra(kind: Kind, name: str, size: int = 40, **changes: object) -> Block:
    block = Block(name, kind, name, Role.SYSTEM, "x" * size, size + PER_MESSAGE)
    return replace(block, **changes)  # type: ignore[arg-type]


def left_out(prompt: Prompt) -> set[str]:
    return {e.block.id for e in prompt.ledger.entries if e.status is Status.EXCLUDED and not e.block.heading}


def full_house() -> list[Block]:
    return [
        prompt_block(Kind.SYSTEM, "system prompt", "be kind", count),
        extra(Kind.LORE, "lore"),
        *grouped(
            section([memory(1, "old", days_ago=50), memory(2, "new", days_ago=8)]),
            section([memory(3, "pin", pinned=True, scope=Scope.server(GUILD, "keepsake"))], frozenset({3})),
        ),
        extra(Kind.SUMMARY, "summary"),
        *window_blocks(
            [message(i, f"text {i}", at=NOW + timedelta(minutes=i)) for i in range(1, 5)], count=count
        ),
        *grouped(section([memory(4, "bob", scope=Scope.user(BOB), days_ago=20)])),
        extra(Kind.ACTIVATED, "activated"),
        extra(Kind.PASSAGES, "passages"),
        *input_blocks([message(9, "hello")], count=count),
    ]


def test_history_leaves_oldest_first_then_extras_then_summaries() -> None:
    blocks = full_house()
    order: list[str] = []
    for budget in range(cost(blocks), 0, -1):
        try:
            out = left_out(fit(blocks, budget))
        except BudgetError:
            break
        order += [b.id for b in blocks if b.id in out and b.id not in order]
    assert order == [
        *(f"message:{i}" for i in range(1, 5)),
        "passages",
        "activated",
        "lore",
        "memories.server.global.m1",
        "memories.user.102.global.m4",
        "memories.server.global.m2",
        "summary",
    ]


def test_what_must_stay_raises_a_clear_error_with_the_numbers_when_it_does_not_fit() -> None:
    blocks = full_house()
    headings = ("memories.server", "memories.server.keepsake", "input.day:2026-11-30")
    kept = [b for b in blocks if required(b) or b.id in headings]
    needed = cost(kept)
    assert fit(blocks, needed).ledger.used == needed
    with pytest.raises(BudgetError) as caught:
        fit(blocks, needed - 1)
    assert (caught.value.needed, caught.value.budget) == (needed, needed - 1)
    section_cost = sum(b.tokens for b in kept if "memories.server.keepsake" in (b.id, b.under))
    assert ("memories about this server", section_cost) in caught.value.largest
    assert len(caught.value.largest) == 3


def test_the_budget_error_never_shows_what_a_memory_says() -> None:
    secret = section([memory(5, "SECRET " * 50, pinned=True, scope=Scope.user(BOB))], frozenset({5}))
    with pytest.raises(BudgetError) as caught:
        fit(grouped(secret), 100)
    assert "SECRET" not in str(caught.value)
    assert caught.value.largest[0] == ("memories about Bob", sum(b.tokens for b in secret))
    assert "memories about Bob" in str(caught.value)


def test_a_tool_call_and_its_result_leave_together() -> None:
    call = extra(Kind.WINDOW, "call", group="t1", at=NOW)
    result = extra(Kind.WINDOW, "result", group="t1", at=NOW + timedelta(minutes=5))
    newer = extra(Kind.WINDOW, "newer", at=NOW + timedelta(minutes=1))
    blocks = [call, newer, result]
    assert left_out(fit(blocks, 44 * 3 - 1)) == {"call", "result"}


def test_a_group_with_a_required_block_never_leaves() -> None:
    blocks = [
        extra(Kind.WINDOW, "call", group="t1", at=NOW),
        extra(Kind.WINDOW, "result", group="t1", protected=True),
        extra(Kind.WINDOW, "newer", at=NOW),
    ]
    assert left_out(fit(blocks, 100)) == {"newer"}


def test_every_block_that_leaves_has_a_plain_reason() -> None:
    blocks = full_house()
    budget = cost(blocks) - cost([b for b in blocks if b.kind is Kind.WINDOW]) - 1
    prompt = fit(blocks, budget)
    reasons = {e.block.id: e.why for e in prompt.ledger.entries if e.status is Status.EXCLUDED}
    assert reasons["message:1"] == "older history was left out to fit the model's budget"
    assert reasons["passages"] == "left out to fit the model's budget, after all older history"
    assert reasons["day:2026-11-30"] == "nothing under this heading is in the prompt"
    assert all(reasons.values())


SIZES = st.integers(0, 60)


@st.composite
def prompts(draw: st.DrawFn) -> list[Block]:
    """Any mixture: sections with and without pins, days, groups, extras."""
    blocks: list[Block] = [prompt_block(Kind.SYSTEM, "system", "s" * draw(SIZES), count)]
    sections: list[Sequence[Block]] = []
    number = 0
    for scope in draw(
        st.lists(st.sampled_from([Scope.server(GUILD), Scope.user(1), Scope.user(2)]), unique=True)
    ):
        memories = []
        for pinned, size in draw(st.lists(st.tuples(st.booleans(), SIZES), max_size=6)):
            number += 1
            memories.append(
                memory(number, "m" * size, scope=scope, pinned=pinned, days_ago=draw(st.integers(0, 40)))
            )
        if memories:
            protected = draw(st.booleans())
            sections.append(
                section(memories, frozenset(m.id for m in memories) if protected else frozenset())
            )
    blocks += grouped(*sections)
    gaps = draw(st.lists(st.tuples(st.integers(0, 1_500), SIZES, st.booleans()), max_size=12))
    at = NOW
    messages = []
    for i, (minutes, size, excluded) in enumerate(gaps, 1):
        at += timedelta(minutes=minutes)
        messages.append(message(i, "t" * size, at=at, excluded=excluded))
    blocks += window_blocks(messages, count=count)
    kinds = [Kind.LORE, Kind.SUMMARY, Kind.PASSAGES, Kind.NOTES, Kind.DIALOGUE]
    for i, (kind, size, group) in enumerate(
        draw(st.lists(st.tuples(st.sampled_from(kinds), SIZES, st.sampled_from(["", "a", "b"])), max_size=6))
    ):
        blocks.append(extra(kind, f"{kind}{i}", size, group=group))
    return [*blocks, *input_blocks([message(99, "i" * draw(SIZES), at=at)], count=count)]


@given(blocks=prompts(), budget=st.integers(1, 3_000))
@settings(max_examples=300, deadline=None)
def test_a_prompt_never_costs_more_than_its_budget_and_keeps_what_is_required(
    blocks: list[Block], budget: int
) -> None:
    try:
        prompt = fit(blocks, budget)
    except BudgetError as error:
        assert error.needed > budget
        return
    sent = sum(count(m.text) + PER_MESSAGE for m in prompt.messages)
    assert sent == prompt.ledger.used <= budget
    inside = {b.id for b in prompt.ledger.included()}
    assert {b.id for b in blocks if required(b) and not b.heading} <= inside
    assert {e.block.id for e in prompt.ledger.entries} == {b.id for b in blocks}
    for block in blocks:
        if block.heading:
            assert (block.id in inside) == any(b.under == block.id and b.id in inside for b in blocks)
    by_group: dict[str, set[bool]] = {}
    for block in blocks:
        if block.group:
            by_group.setdefault(block.group, set()).add(block.id in inside)
    assert all(len(states) == 1 for states in by_group.values())


@given(blocks=prompts(), order=st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_the_running_cost_equals_a_full_recount_after_each_removal(
    blocks: list[Block], order: object
) -> None:
    tally = Tally(blocks)
    indexes = list(range(len(blocks)))
    order.shuffle(indexes)  # type: ignore[attr-defined]
    for index in [*indexes, *indexes[:2]]:
        kept = [b for b, inside in zip(blocks, tally.inside, strict=True) if inside]
        assert tally.used == cost(kept)
        tally.remove(index)
    assert tally.used == 0
    assert not any(tally.inside)


@given(blocks=prompts(), budget=st.integers(1, 3_000))
@settings(max_examples=100, deadline=None)
def test_the_same_blocks_give_the_same_prompt(blocks: list[Block], budget: int) -> None:
    def outcome() -> object:
        try:
            return fit(blocks, budget)
        except BudgetError as error:
            return str(error)

    assert outcome() == outcome()


def pins(user: int, ages: list[int], size: int = 91, first: int = 0) -> list[Block]:
    scope = Scope.user(user)
    entries = [
        memory(first + i, "p" * size, scope=scope, pinned=True, days_ago=a) for i, a in enumerate(ages)
    ]
    return list(section(entries))


def test_other_members_pins_share_a_quarter_newest_first_and_evenly() -> None:
    blocks = grouped(pins(1, [10, 20, 30, 40], first=100), pins(2, [11, 21, 31, 41], first=200))
    heads = sum(b.tokens for b in blocks if b.heading)
    line = blocks[2].tokens
    budget = 4 * (heads + 4 * line)
    out = {blocks[i].id[-4:] for i in share_pins(blocks, budget)}
    assert out == {"m102", "m103", "m202", "m203"}


def test_pins_left_out_are_named_in_the_ledger_and_unpinned_memories_are_not_touched() -> None:
    blocks = grouped(pins(1, [10, 20, 30], first=100), section([memory(7, "u" * 300, scope=Scope.user(BOB))]))
    prompt = fit(blocks, 1_000)
    why = {e.block.id: e.why for e in prompt.ledger.entries if e.status is Status.EXCLUDED}
    assert set(why) == {"memories.user.1.global.m101", "memories.user.1.global.m102"}
    assert all("at most 25 %" in reason for reason in why.values())


def test_a_pin_under_the_activated_entries_is_shared_like_any_other() -> None:
    entries = [memory(i, "p" * 90, pinned=True, scope=Scope.user(1), days_ago=i) for i in range(1, 9)]
    activated = memory_blocks(
        Kind.ACTIVATED,
        entries[:6],
        about="Bob",
        owner=1,
        protected_ids=(),
        now=NOW,
        names={},
        count=count,
    )
    blocks = grouped(section(entries[6:]), activated)
    prompt = fit(blocks, 1_300)
    assert len({b.id for b in blocks}) == len(blocks) == 12
    assert sum(b.tokens for b in prompt.ledger.included()) <= 1_300 / 4
    assert left_out(prompt) >= {"memories.user.1.global.activated.m6", "memories.user.1.global.m8"}


def test_protected_pins_take_no_part_in_sharing() -> None:
    entries = [memory(i, "p" * 90, pinned=True, scope=Scope.user(1)) for i in range(1, 9)]
    protected = grouped(section(entries, frozenset(range(1, 9))))
    assert fit(protected, 1_300).ledger.used == cost(protected) > 1_300 / 4


@given(
    sizes=st.lists(st.lists(st.integers(0, 200), max_size=8), min_size=1, max_size=4),
    budget=st.integers(0, 4_000),
)
@settings(max_examples=150, deadline=None)
def test_shared_pins_never_cost_more_than_a_quarter_of_the_budget(
    sizes: list[list[int]], budget: int
) -> None:
    sections: list[list[Block]] = []
    for user, lengths in enumerate(sizes, 1):
        for i, size in enumerate(lengths):
            sections.append(pins(user * 10 + i, [i], size, first=user * 100 + i))
    blocks = grouped(*sections)
    out = share_pins(blocks, budget)
    tally = Tally(blocks)
    for index in out:
        tally.remove(index)
    assert tally.used <= budget * 0.25
