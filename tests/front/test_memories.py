from __future__ import annotations

from typing import Any

import pytest

from memory.errors import StoreBusy
from memory.types import DEFAULT_LINEAGE, GLOBAL, Scope

from .reading import BAD_TEXTS, double_click, labels, message_of, modal_text, words
from .world import World


async def _kept(world: World, scope: Scope) -> list[str]:
    async with world.engine._rooms.store.read() as tx:
        return [m.text for m in await tx.memories.of_scopes([scope], dm=True)]


async def test_add_keeps_a_personal_memory_by_default_and_only_its_owner_sees_the_answer(
    world: World,
) -> None:
    """SPEC §4.3."""
    shown = await world.ana.slash(world.general, "memory add", text="I play the cello")
    assert message_of(shown).ephemeral
    assert "I play the cello" in words(shown)
    assert "Undo" in labels(shown)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["I play the cello"]
    assert world.said_by_bot(world.general) == []


async def test_an_admin_adds_a_server_memory_and_everybody_sees_it(world: World) -> None:
    """SPEC §4.3, §4.5."""
    shown = await world.mara.slash(
        world.general, "memory add", text="The inn closes at ten", scope="server_global", pinned=True
    )
    assert message_of(shown).ephemeral
    (seen,) = world.said_by_bot(world.general)
    assert not seen.flags.ephemeral
    assert "The inn closes at ten" in words(seen)
    assert "Undo" in labels(seen)
    assert await _kept(world, Scope.server(world.guild.id, GLOBAL)) == ["The inn closes at ten"]


async def test_a_member_without_access_is_told_so_alone_and_keeps_their_words(world: World) -> None:
    shown = await world.ana.slash(
        world.general, "memory add", text="The inn is haunted", scope="server_persona"
    )
    assert message_of(shown).ephemeral
    assert "Manage Server" in words(shown)
    assert world.said_by_bot(world.general) == []
    assert labels(shown) == ["Save it about me"]
    await world.ana.click(message_of(shown), label="Save it about me")
    assert message_of(shown).ephemeral
    assert "Undo" in labels(shown)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["The inn is haunted"]
    assert await _kept(world, Scope.server(world.guild.id, DEFAULT_LINEAGE)) == []
    assert world.said_by_bot(world.general) == []


async def test_member_access_lets_members_write_server_memories(world: World) -> None:
    """SPEC §12."""
    await world.engine.config.set(world.person(world.mara), world.place(world.general), "member_access", "on")
    await world.ana.slash(world.general, "memory add", text="The inn is haunted", scope="server_persona")
    assert await _kept(world, Scope.server(world.guild.id, DEFAULT_LINEAGE)) == ["The inn is haunted"]


async def test_the_confirmation_is_remembered_by_its_message(world: World) -> None:
    """SPEC §4.5."""
    shown = await world.mara.slash(
        world.general, "memory add", text="The inn closes at ten", scope="server_persona"
    )
    async with world.engine._rooms.store.read() as tx:
        assert await tx.notices.is_notice([shown.followups[0].id]) == {shown.followups[0].id}
        assert await tx.notices.pending(10) == []


async def test_a_text_that_is_too_long_is_refused_with_counts_and_offered_back(world: World) -> None:
    """SPEC §4.1."""
    shown = await world.ana.slash(world.general, "memory add", text="x" * 501)
    assert "501" in words(shown)
    assert "500" in words(shown)
    box = await world.ana.click(message_of(shown), label="Try again with my words")
    assert modal_text(box) == "x" * 501
    saved = await world.ana.submit_modal(box, {"text": "x" * 500})
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["x" * 500]
    assert "Undo" in labels(saved)


@pytest.mark.parametrize("text", ["   ", "\u200b\u200b", "\u2800"])
async def test_nothing_but_space_is_refused_in_plain_words(world: World, text: str) -> None:
    shown = await world.ana.slash(world.general, "memory add", text=text)
    assert "no text" in words(shown)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == []


async def test_six_hundred_emoji_are_too_long_and_five_hundred_are_not(world: World) -> None:
    """SPEC §4.1."""
    shown = await world.ana.slash(world.general, "memory add", text="🦊" * 600)
    assert "600" in words(shown)
    box = await world.ana.click(message_of(shown), label="Try again with my words")
    await world.ana.submit_modal(box, {"text": "🦊" * 500})
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["🦊" * 500]


@pytest.mark.parametrize("name", BAD_TEXTS)
async def test_hostile_text_is_kept_and_shown_as_nothing_but_words(world: World, name: str) -> None:
    text = BAD_TEXTS[name]
    shown = await world.ana.slash(world.general, "memory add", text=text)
    (kept,) = await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE))
    assert "\u202e" not in kept
    seen = words(shown)
    assert "](https://evil" not in seen
    assert "\n# " not in seen
    assert "@everyone" not in seen.replace("\\@everyone", "")
    assert "\u202e" not in seen
    panel = await world.ana.slash(world.general, "personal memories")
    assert "](https://evil" not in words(panel)
    assert "```" not in words(panel)


async def test_in_a_direct_message_a_server_scope_is_explained_and_the_words_are_kept(world: World) -> None:
    shown = await world.ana.user.slash("memory add", text="Secret plan", scope="server_persona")
    assert "no server" in words(shown)
    assert not message_of(shown).flags.ephemeral
    await world.ana.user.click(message_of(shown), label="Save it about me")
    assert "Use everywhere" in labels(shown)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["Secret plan"]


async def test_only_scopes_that_they_may_write_now_are_offered(world: World) -> None:
    """SPEC §4.3."""
    own, shared = ["user_persona", "user_global"], ["server_persona", "server_global"]

    async def offered(who: Any) -> list[str]:
        return [c["value"] for c in await who.autocomplete(world.general, "memory add", "scope", "")]

    assert [c["value"] for c in await world.mara.user.autocomplete("memory add", "scope", "")] == own
    assert await offered(world.mara) == own + shared
    assert await offered(world.ana) == own
    manager, place = world.person(world.mara), world.place(world.general)
    await world.engine.config.set(manager, place, "member_access", "on")
    assert await offered(world.ana) == own + shared
    await world.engine.config.set(manager, place, "member_access", "off")
    assert await offered(world.ana) == own


async def test_an_unknown_scope_is_answered_plainly(world: World) -> None:
    shown = await world.ana.slash(world.general, "memory add", text="x", scope="the moon")
    assert "don't know that scope" in words(shown)


async def test_a_memory_of_a_direct_message_is_kept_there_and_not_offered_in_servers(world: World) -> None:
    """SPEC §4.2."""
    shown = await world.ana.user.slash("memory add", text="My sister is Inés")
    assert "Use everywhere" in labels(shown)
    assert await world.ana.autocomplete(world.general, "memory edit", "entry", "") == []
    assert len(await world.ana.user.autocomplete("memory edit", "entry", "sister")) == 1


async def _add(world: World, text: str, scope: str = "user_persona", pinned: bool = False) -> str:
    who = world.mara if scope.startswith("server") else world.ana
    await who.slash(world.general, "memory add", text=text, scope=scope, pinned=pinned)
    (found,) = await who.autocomplete(world.general, "memory history", "entry", text)
    return str(found["value"])


async def test_autocomplete_shows_the_pin_the_text_and_whom_it_is_about(world: World) -> None:
    await _add(world, "I play the cello", pinned=True)
    (choice,) = await world.ana.autocomplete(world.general, "memory edit", "entry", "cello")
    assert choice["name"] == "📌 I play the cello · about you, TestBot"


async def test_autocomplete_labels_of_the_longest_entries_fit(world: World) -> None:
    await world.ana.slash(world.general, "memory add", text="🦊" * 500, scope="user_global", pinned=True)
    (choice,) = await world.ana.autocomplete(world.general, "memory edit", "entry", "")
    assert len(choice["name"].encode("utf-16-le")) // 2 <= 100


async def test_nobody_is_offered_another_members_entry(world: World) -> None:
    await _add(world, "I play the cello")
    assert await world.mara.autocomplete(world.general, "memory edit", "entry", "cello") == []
    assert await world.stranger.autocomplete(world.general, "memory history", "entry", "") == []


async def test_members_without_access_are_not_offered_server_entries_to_change(world: World) -> None:
    await _add(world, "The inn closes at ten", "server_persona")
    assert await world.ana.autocomplete(world.general, "memory edit", "entry", "") == []
    assert len(await world.ana.autocomplete(world.general, "memory history", "entry", "")) == 1
    assert len(await world.mara.autocomplete(world.general, "memory edit", "entry", "")) == 1


@pytest.mark.parametrize(
    "command", ["memory edit", "memory delete", "memory history", "pins add", "pins remove"]
)
async def test_an_unknown_entry_is_answered_plainly(world: World, command: str) -> None:
    for entry in ("999", "m7", "the thing about tea", "", "-1", "9" * 40):
        if entry:
            shown = await world.ana.slash(world.general, command, entry=entry)
            assert "can't find that entry" in words(shown)
            assert message_of(shown).ephemeral


@pytest.mark.parametrize(
    "command", ["memory edit", "memory delete", "memory history", "pins add", "pins remove"]
)
async def test_another_members_entry_is_answered_like_one_that_never_was(world: World, command: str) -> None:
    """SPEC §12."""
    entry = await _add(world, "I play the cello")
    for who in (world.mara, world.stranger):
        shown = await who.slash(world.general, command, entry=entry)
        assert "can't find that entry" in words(shown)
        assert "cello" not in words(shown)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["I play the cello"]


async def test_edit_opens_a_box_with_the_present_words_and_saves_the_new_ones(world: World) -> None:
    entry = await _add(world, "I play the cello")
    box = await world.ana.slash(world.general, "memory edit", entry=f"M{entry}")
    assert modal_text(box) == "I play the cello"
    shown = await world.ana.submit_modal(box, {"text": "I play the viola"})
    assert "I play the viola" in words(shown)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["I play the viola"]


async def test_an_entry_of_five_hundred_emoji_can_be_edited(world: World) -> None:
    entry = await _add(world, "🦊" * 500)
    box = await world.ana.slash(world.general, "memory edit", entry=entry)
    assert modal_text(box) == "🦊" * 500


async def test_an_edit_of_what_was_changed_meanwhile_keeps_both_texts(world: World) -> None:
    entry = await _add(world, "I play the cello")
    first = await world.ana.slash(world.general, "memory edit", entry=entry)
    second = await world.ana.slash(world.general, "memory edit", entry=entry)
    await world.ana.submit_modal(first, {"text": "I play the viola"})
    refused = await world.ana.submit_modal(second, {"text": "I play the harp"})
    assert "meanwhile" in words(refused)
    box = await world.ana.click(message_of(refused), label="Try again with my words")
    assert modal_text(box) == "I play the harp"
    await world.ana.submit_modal(box, {"text": "I play the harp"})
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["I play the harp"]


async def test_an_edit_of_what_was_deleted_meanwhile_can_be_saved_as_a_new_entry(world: World) -> None:
    entry = await _add(world, "I play the cello")
    box = await world.ana.slash(world.general, "memory edit", entry=entry)
    await world.ana.slash(world.general, "memory delete", entry=entry)
    refused = await world.ana.submit_modal(box, {"text": "I play the harp"})
    again = await world.ana.click(message_of(refused), label="Try again with my words")
    await world.ana.submit_modal(again, {"text": "I play the harp"})
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["I play the harp"]


async def test_delete_forgets_at_once_and_undo_brings_it_back(world: World) -> None:
    """SPEC §4.6."""
    entry = await _add(world, "I play the cello")
    shown = await world.ana.slash(world.general, "memory delete", entry=entry)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == []
    assert "Undo" in labels(shown)
    undone = await world.ana.slash(world.general, "memory undo")
    assert message_of(undone).ephemeral
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["I play the cello"]


async def test_a_pinned_entry_is_deleted_only_after_a_yes(world: World) -> None:
    entry = await _add(world, "I play the cello", pinned=True)
    scope = Scope.user(world.ana.id, DEFAULT_LINEAGE)
    asked = await world.ana.slash(world.general, "memory delete", entry=entry)
    assert await _kept(world, scope) == ["I play the cello"]
    kept = await world.ana.click(message_of(asked), label="Keep it")
    assert "Nothing was changed" in words(kept)
    asked = await world.ana.slash(world.general, "memory delete", entry=entry)
    await world.ana.click(message_of(asked), label="Delete it")
    assert await _kept(world, scope) == []
    assert "Undo" in labels(asked)


async def test_a_pinned_entry_that_changed_after_the_question_is_kept(world: World) -> None:
    entry = await _add(world, "I play the cello", pinned=True)
    asked = await world.ana.slash(world.general, "memory delete", entry=entry)
    box = await world.ana.slash(world.general, "memory edit", entry=entry)
    await world.ana.submit_modal(box, {"text": "I play the viola"})
    await world.ana.click(message_of(asked), label="Delete it")
    assert "meanwhile" in words(asked)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["I play the viola"]


async def test_a_member_cannot_delete_a_server_entry_and_is_told_so_alone(world: World) -> None:
    entry = await _add(world, "The inn closes at ten", "server_persona")
    before = world.general.history(viewer=world.ben)
    shown = await world.ana.slash(world.general, "memory delete", entry=entry)
    assert message_of(shown).ephemeral
    assert "Manage Server" in words(shown)
    assert len(world.general.history(viewer=world.ben)) == len(before)
    assert await _kept(world, Scope.server(world.guild.id, DEFAULT_LINEAGE)) == ["The inn closes at ten"]


async def test_undo_with_nothing_to_undo_says_so(world: World) -> None:
    shown = await world.stranger.slash(world.general, "memory undo")
    assert words(shown)
    assert "Undo" not in labels(shown)


async def test_undoing_a_server_write_is_told_to_the_server(world: World) -> None:
    await _add(world, "The inn closes at ten", "server_persona")
    shown = await world.mara.slash(world.general, "memory undo")
    assert await _kept(world, Scope.server(world.guild.id, DEFAULT_LINEAGE)) == []
    assert shown.response is not None
    assert shown.response.ephemeral
    assert any("undone" in words(m).lower() for m in world.said_by_bot(world.general))


async def test_history_tells_who_did_what_with_the_words(world: World) -> None:
    """SPEC §4.6."""
    entry = await _add(world, "I play the cello")
    box = await world.ana.slash(world.general, "memory edit", entry=entry)
    await world.ana.submit_modal(box, {"text": "I play the viola"})
    shown = await world.ana.slash(world.general, "memory history", entry=entry)
    assert message_of(shown).ephemeral
    assert words(shown).index("viola") < words(shown).index("cello")
    assert f"by <@{world.ana.id}>" in words(shown)


async def test_the_history_of_a_deleted_entry_is_found_by_its_handle(world: World) -> None:
    entry = await _add(world, "I play the cello")
    await world.ana.slash(world.general, "memory delete", entry=entry)
    shown = await world.ana.slash(world.general, "memory history", entry=f"m{entry}")
    assert "deleted" in words(shown)
    assert "cello" in words(shown)


async def test_search_lists_what_fits_and_says_when_nothing_does(world: World) -> None:
    await _add(world, "I play the cello")
    await _add(world, "The inn closes at ten", "server_persona")
    shown = await world.ana.slash(world.general, "memory search", query="cello")
    assert "I play the cello" in words(shown)
    assert "closes" not in words(shown)
    nothing = await world.ana.slash(world.general, "memory search", query="**zebra** @everyone")
    assert "Nothing found" in words(nothing)
    theirs = await world.ben.slash(world.general, "memory search", query="cello")
    assert "I play" not in words(theirs)


async def test_a_double_click_on_the_question_deletes_once(world: World) -> None:
    entry = await _add(world, "I play the cello", pinned=True)
    asked = await world.ana.slash(world.general, "memory delete", entry=entry)
    first, second = await double_click(world.ana, asked, "Delete it")
    assert first.acknowledged
    assert second.acknowledged
    assert "Deleted" in words(asked)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == []


async def test_the_buttons_under_an_answer_leave_when_their_time_is_up(world: World) -> None:
    shown = await world.ana.slash(world.general, "memory add", text="x" * 501)
    assert labels(shown) == ["Try again with my words"]
    await world.env.advance_time(601)
    assert labels(shown) == []


async def test_an_answer_that_discord_no_longer_takes_does_not_undo_the_write(world: World) -> None:
    world.env.inject_error("PATCH", "/webhooks/*", status=404, code=10015, times=1)
    await world.ana.slash(world.general, "memory add", text="I play the cello")
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == ["I play the cello"]
    assert len(world.env.errors) == 1


async def test_when_the_database_fails_nothing_is_saved_and_it_is_said(world: World) -> None:
    class Broken:
        def write(self) -> object:
            raise StoreBusy("The database is busy.")

    world.engine.facts.store, store = Broken(), world.engine.facts.store  # type: ignore[assignment]
    shown = await world.ana.slash(world.general, "memory add", text="I play the cello")
    world.engine.facts.store = store
    assert "Nothing was changed" in words(shown)
    assert await _kept(world, Scope.user(world.ana.id, DEFAULT_LINEAGE)) == []
    box = await world.ana.click(message_of(shown), label="Try again with my words")
    assert modal_text(box) == "I play the cello"


async def test_a_mentioned_member_is_shown_without_being_pinged(world: World) -> None:
    """SPEC §12."""
    shown = await world.mara.slash(
        world.general, "memory add", text=f"{world.ben.mention} keeps the keys", scope="server_persona"
    )
    panel = await world.ana.slash(world.general, "memories")
    assert "keeps the keys" in words(panel)
    assert "Ben" in words(panel) or world.ben.mention in words(panel)
    for request in world.env.http_requests:
        data = (request.json or {}).get("data", request.json) if isinstance(request.json, dict) else None
        if isinstance(data, dict) and ("content" in data or "embeds" in data or "components" in data):
            assert data.get("allowed_mentions", {"parse": []}).get("parse") == [], request.path
    assert message_of(shown).ephemeral
