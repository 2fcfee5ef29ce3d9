"""One scope as a file: what goes out, what comes in, and what is refused (SPEC §4.3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory.facts.service import Facts
from memory.store import Store
from memory.types import ActorKind, Person, Place, Scope
from tests.facts.world import (
    ADMIN,
    ANA,
    ANAS,
    ANAS_DM,
    ANAS_GLOBAL,
    BEN,
    BENS,
    ELSEWHERE,
    SERVER,
    SQUARE,
    everything,
    grant,
    saved,
    texts,
)


async def exported(
    facts: Facts, scope: Scope = ANAS, person: Person = ANA, place: Place = SQUARE
) -> dict[str, Any]:
    found = await facts.export(person, place, scope)
    assert found is not None
    content: dict[str, Any] = json.loads(found[0])
    return content


def a_file(*memories: object, **more: object) -> bytes:
    content = {"format": "keepsake-memories", "version": 1, "memories": list(memories), **more}
    return json.dumps(content).encode()


async def test_an_export_holds_text_pins_keywords_and_times_and_no_id(facts: Facts) -> None:
    await saved(facts, "Likes tea with <@2222>", pinned=True)
    await facts.tag(ANA, SQUARE, 1, ("tea",), (7,))
    await saved(facts, "Hates rain", BENS)
    content = await exported(facts)
    assert content["about"] == "user" and content["persona"] == "keepsake" and content["version"] == 1
    (entry,) = content["memories"]
    assert (entry["text"], entry["pinned"], entry["keywords"]) == ("Likes tea with <@2222>", True, ["tea"])
    assert entry["created"].endswith("+00:00") and set(entry) == {
        "text",
        "pinned",
        "keywords",
        "created",
        "updated",
    }


async def test_only_what_one_may_read_there_is_exported(facts: Facts) -> None:
    await saved(facts, "Likes tea")
    await saved(facts, "Afraid of the dark", place=ANAS_DM)
    await saved(facts, "Closes at ten", SERVER)
    found = await facts.export(ANA, SQUARE, ANAS)
    assert found is not None and found[1:] == (1, 1) and b"dark" not in found[0]
    there = await exported(facts, place=ANAS_DM)
    assert [entry.get("dm_only") for entry in there["memories"]] == [None, True]
    assert await facts.export(BEN, SQUARE, ANAS) is None
    assert await facts.export(ADMIN, SQUARE, ANAS) is None
    assert await facts.export(ADMIN, ELSEWHERE, SERVER) is None
    assert (await exported(facts, SERVER, BEN))["memories"][0]["text"] == "Closes at ten"


async def test_an_export_comes_back_unpinned_with_its_keywords_and_is_journaled_as_an_import(
    facts: Facts, store: Store
) -> None:
    memory = await saved(facts, "Likes tea with <@2222>", pinned=True)
    await facts.tag(ANA, SQUARE, memory.id, ("tea",), ())
    found = await facts.export(ANA, SQUARE, ANAS)
    assert found is not None
    done = await facts.bring_in(ANA, SQUARE, ANAS_GLOBAL, found[0])
    assert (done.saved, done.known, done.refused) == (1, 0, "") and "unpinned" in done.told()
    (new,) = await everything(store, ANAS_GLOBAL)
    assert (new.text, new.pinned, new.keywords) == ("Likes tea with <@2222>", False, ("tea",))
    async with store.read() as tx:
        (line,) = await tx.journal.of_memory(new.id)
        assert await tx.memories.mentions(new.id) == [2222]
    assert (line.actor_kind, line.actor_id) == (ActorKind.IMPORT, ANA.id)
    again = await facts.bring_in(ANA, SQUARE, ANAS_GLOBAL, found[0])
    assert (again.saved, again.known) == (0, 1) and "nothing new" in again.told()


async def test_what_is_known_or_repeated_is_counted_and_skipped(facts: Facts, store: Store) -> None:
    await saved(facts, "Likes tea")
    done = await facts.bring_in(
        ANA, SQUARE, ANAS, a_file({"text": "likes tea."}, {"text": "Likes rain"}, {"text": "LIKES RAIN"})
    )
    assert (done.saved, done.known) == (1, 2) and texts(await everything(store)) == [
        "Likes tea",
        "Likes rain",
    ]


async def test_over_the_cap_nothing_comes_in_and_the_counts_are_told(small: Facts, store: Store) -> None:
    await saved(small, "one")
    await saved(small, "pinned", pinned=True)
    done = await small.bring_in(ANA, SQUARE, ANAS, a_file(*({"text": f"new {n}"} for n in range(3))))
    assert "3 memories that are new" in done.refused and "room for 2 (1 of 3 unpinned)" in done.refused
    assert texts(await everything(store)) == ["one", "pinned"]
    fits = await small.bring_in(
        ANA, SQUARE, ANAS, a_file({"text": "one"}, *({"text": f"n{n}"} for n in "ab"))
    )
    assert fits.saved == 2


async def test_into_a_server_only_with_manage_server_and_into_ones_own_alone(
    facts: Facts, store: Store
) -> None:
    await grant(store)
    file = a_file({"text": "Closes at ten"})
    assert "Manage Server" in (await facts.bring_in(ANA, SQUARE, SERVER, file)).refused
    for person, place, scope in ((ADMIN, ELSEWHERE, SERVER), (ADMIN, SQUARE, ANAS), (BEN, SQUARE, ANAS)):
        assert (await facts.bring_in(person, place, scope, file)).refused
    assert not await everything(store)
    assert (await facts.bring_in(ADMIN, SQUARE, SERVER, file)).saved == 1


async def test_what_was_kept_for_dms_stays_so_and_never_becomes_a_servers(facts: Facts, store: Store) -> None:
    file = a_file({"text": "Afraid of the dark", "dm_only": True})
    assert "Memory 1 was kept for DMs" in (await facts.bring_in(ADMIN, SQUARE, SERVER, file)).refused
    assert (await facts.bring_in(ANA, SQUARE, ANAS, file)).saved == 1
    assert await facts.find(ANA, SQUARE, "dark") == []
    assert (await facts.bring_in(ANA, ANAS_DM, ANAS, a_file({"text": "Said in a DM"}))).saved == 1
    assert all(memory.dm_only for memory in await everything(store))


DEEP = b'{"format": "keepsake-memories", "version": 1, "memories": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

HOSTILE = {
    "too large": (b" " * 1_000_001, "1,000,001 bytes"),
    "empty": (b"", "not JSON"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\x00", "not JSON"),
    "nested": (DEEP, "nested too deeply"),
    "long number": (b'{"version": ' + b"9" * 10_000 + b"}", "not JSON"),
    "nan": (b'{"version": NaN}', "not JSON"),
    "list": (b"[1, 2]", "not a file that `/memory export` made"),
    "other format": (b'{"format": "chara_card_v2"}', "not a file that"),
    "other version": (a_file(version=2), "another version"),
    "true version": (a_file(version=True), "another version"),
    "no list": (a_file(memories={"text": "x"}), "not a list"),
    "no object": (a_file("x"), "Memory 1 is not an object"),
    "no text": (a_file({"text": "fine"}, {"pinned": True}), "text of memory 2"),
    "text a number": (a_file({"text": 5}), "text of memory 1"),
    "blank": (a_file({"text": " \u200b "}), "Memory 1 has no text"),
    "over-long": (a_file({"text": "fine"}, {"text": "x" * 501}), "Memory 2 has 501 characters"),
    "keywords a text": (a_file({"text": "x y", "keywords": "tea"}), "keywords of memory 1"),
    "keyword a number": (a_file({"text": "x y", "keywords": [1]}), "keywords of memory 1"),
    "six keywords": (a_file({"text": "x y", "keywords": list("abcdef")}), "Memory 1: these are 6 keywords"),
    "long keyword": (a_file({"text": "x y", "keywords": ["k" * 51]}), "51 characters"),
    "dm a number": (a_file({"text": "x y", "dm_only": 1}), "“dm_only” of memory 1"),
    "ten thousand": (a_file(*({"text": f"fact {n}"} for n in range(10_000))), "10,000 memories"),
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_file_is_refused_with_the_reason_and_nothing_is_saved(
    facts: Facts, store: Store, kind: str
) -> None:
    data, said = HOSTILE[kind]
    done = await facts.bring_in(ANA, SQUARE, ANAS, data)
    assert said in done.refused and done.told().startswith("Nothing was imported.")
    assert not await everything(store)


async def test_hostile_words_are_data(facts: Facts, store: Store) -> None:
    words = "\ud800 <@1> @everyone \x00 ```"
    done = await facts.bring_in(ANA, SQUARE, ANAS, a_file({"text": words, "id": 1, "scope": "server"}))
    assert done.saved == 1
    (memory,) = await everything(store)
    assert memory.scope == ANAS and "\x00" not in memory.text and "@everyone" in memory.text
