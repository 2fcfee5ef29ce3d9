from __future__ import annotations

import json
from typing import Any

import pytest

from memory.errors import ModelUnavailable
from memory.facts.rights import NOT_USED
from memory.llm import tokenizers
from memory.llm.offline import OfflineModel
from memory.types import DEFAULT_LINEAGE, GLOBAL, Memory, Persona, Scope

from .reading import double_click, labels, menus, message_of, modal_text, words
from .world import World, make_world


async def _kept(world: World, scope: Scope | None = None) -> list[Memory]:
    async with world.engine._rooms.store.read() as tx:
        scope = scope or Scope.user(world.ana.id, DEFAULT_LINEAGE)
        return await tx.memories.of_scopes([scope], dm=True)


async def _texts(world: World, scope: Scope | None = None) -> list[str]:
    return [memory.text for memory in await _kept(world, scope)]


async def _generate(world: World, actor: Any = None, scope: str = "", **more: Any) -> Any:
    actor = actor or world.ana
    options = {"description": "I play the cello and I am allergic to nuts", **more}
    if scope:
        options["scope"] = scope
    return await actor.slash(world.general, "memory generate", **options)


async def test_a_description_becomes_drafts_and_nothing_is_saved_before_save(world: World) -> None:
    """SPEC §4.3."""
    world.model.say('["@Ana plays the cello", "@Ana is allergic to nuts"]')
    shown = await _generate(world)
    assert message_of(shown).ephemeral
    assert "cello" in words(shown) and "nuts" in words(shown) and "2 drafts" in words(shown)
    assert await _texts(world) == []
    await world.ana.click(message_of(shown), label="Save all")
    mention = f"<@{world.ana.id}>"
    assert await _texts(world) == [f"{mention} plays the cello", f"{mention} is allergic to nuts"]
    assert not any(memory.pinned for memory in await _kept(world))
    assert "Saved 2" in words(shown)
    assert labels(shown) == []


async def test_the_chat_is_never_read_for_a_description(world: World) -> None:
    """SPEC §4.3."""
    world.model.say("Hello Ben.")
    await world.ben.send(world.general, world.call("my secret is the old well"))
    world.model.say('["Likes tea"]')
    await _generate(world)
    prompt = "\n".join(message.text for message in world.model.requests[-1].messages)
    assert "old well" not in prompt
    assert "I play the cello" in prompt
    assert world.model.requests[-1].tools == ()


async def test_a_draft_is_edited_and_what_is_shown_is_what_is_saved(world: World) -> None:
    """SPEC §4.3."""
    world.model.say('["Likes tea", "Likes rain"]')
    shown = await _generate(world)
    box = await world.ana.click(message_of(shown), label="Edit 1")
    assert modal_text(box) == "Likes tea"
    await world.ana.submit_modal(box, {"text": "Likes green tea"})
    assert "Likes green tea" in words(shown) and "Likes tea" not in words(shown)
    await world.ana.click(message_of(shown), label="Remove 2")
    assert "Likes rain" not in words(shown)
    await world.ana.click(message_of(shown), label="Save all")
    assert await _texts(world) == ["Likes green tea"]


async def test_an_emptied_draft_is_left_as_it_was(world: World) -> None:
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    box = await world.ana.click(message_of(shown), label="Edit 1")
    await world.ana.submit_modal(box, {"text": "\u200b \u2060"})
    assert "can't be empty" in words(shown) and "Likes tea" in words(shown)


async def test_a_double_click_on_save_saves_once(world: World) -> None:
    world.model.say('["Likes tea", "Likes rain"]')
    shown = await _generate(world)
    await double_click(world.ana, shown, "Save all")
    assert await _texts(world) == ["Likes tea", "Likes rain"]
    async with world.engine._rooms.store.read() as tx:
        entries = [e for m in await _kept(world) for e in await tx.journal.of_memory(m.id)]
    assert len(entries) == 2


async def test_cancel_saves_nothing(world: World) -> None:
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    await world.ana.click(message_of(shown), label="Cancel")
    assert "Nothing was saved" in words(shown)
    assert labels(shown) == []
    assert await _texts(world) == []


async def test_thirty_drafts_are_ten_and_it_is_said(world: World) -> None:
    """SPEC §4.3."""
    world.model.say(json.dumps([f"Fact number {n}" for n in range(30)]))
    shown = await _generate(world)
    assert "10 drafts" in words(shown)
    assert "30 drafts; these are the first 10" in words(shown)
    assert "Page 1 of 2" in words(shown)
    await world.ana.click(message_of(shown), label="Next")
    assert "Fact number 9" in words(shown)
    await world.ana.click(message_of(shown), label="Save all")
    assert await _texts(world) == [f"Fact number {n}" for n in range(10)]


async def test_a_draft_that_is_too_long_blocks_saving_and_is_named_until_it_is_trimmed(world: World) -> None:
    world.model.say(json.dumps(["Likes tea", "x" * 501]))
    shown = await _generate(world)
    assert "501 characters; the limit is 500. Shorten it by 1." in words(shown)
    assert "Too long to be saved: 2" in words(shown)
    assert "Save all" not in labels(shown)
    box = await world.ana.click(message_of(shown), label="Edit 2")
    assert modal_text(box) == "x" * 501
    await world.ana.submit_modal(box, {"text": "x" * 500})
    await world.ana.click(message_of(shown), label="Save all")
    assert await _texts(world) == ["Likes tea", "x" * 500]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (ModelUnavailable("The model cannot be reached right now."), "cannot be reached"),
        ("I am sorry, I will not do that.", "did not answer with drafts"),
        ("[]", "nothing worth keeping"),
    ],
)
async def test_when_no_drafts_come_the_description_is_kept_and_can_be_tried_again(
    world: World, step: Any, said: str
) -> None:
    world.model.say(step, *([step] if step == "I am sorry, I will not do that." else []))
    shown = await _generate(world)
    assert said in words(shown)
    assert "othing was saved" in words(shown)
    assert "I play the cello" in words(shown)
    world.model.say('["Plays the cello"]')
    await world.ana.click(message_of(shown), label="Draft")
    assert "Plays the cello" in words(shown)
    await world.ana.click(message_of(shown), label="Save all")
    assert await _texts(world) == ["Plays the cello"]


async def test_prose_is_repaired_once(world: World) -> None:
    world.model.say("Sure! Ana plays the cello.", 'Here it is:\n```json\n["Plays the cello"]\n```')
    shown = await _generate(world)
    assert "Plays the cello" in words(shown)
    assert len(world.model.requests) == 2


async def test_a_description_can_be_changed_before_it_is_tried_again(world: World) -> None:
    world.model.say("[]")
    shown = await _generate(world)
    box = await world.ana.click(message_of(shown), label="Change the description")
    assert modal_text(box) == "I play the cello and I am allergic to nuts"
    await world.ana.submit_modal(box, {"text": "I keep bees"})
    assert "I keep bees" in words(shown)
    world.model.say('["Keeps bees"]')
    await world.ana.click(message_of(shown), label="Draft")
    assert "I keep bees" in world.model.requests[-1].messages[1].text


async def test_back_shows_the_description_again(world: World) -> None:
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    await world.ana.click(message_of(shown), label="Back")
    assert "I play the cello" in words(shown)


async def test_an_admin_drafts_server_memories_and_the_channel_sees_what_was_saved(world: World) -> None:
    world.model.say('["The inn closes at ten"]')
    shown = await _generate(world, world.mara, "server_global")
    assert "About this server" in words(shown)
    await world.mara.click(message_of(shown), label="Save all")
    assert await _texts(world, Scope.server(world.guild.id, GLOBAL)) == ["The inn closes at ten"]
    (seen,) = world.said_by_bot(world.general)
    assert "The inn closes at ten" in words(seen)


@pytest.mark.parametrize("who", ["ana", "stranger"])
async def test_a_member_without_access_is_told_before_the_model_is_asked(world: World, who: str) -> None:
    shown = await _generate(world, getattr(world, who), "server_persona")
    assert "Manage Server" in words(shown)
    assert "I play the cello" in words(shown)
    assert world.model.requests == []
    options = [option["label"] for option in menus(shown)[0]["options"]]
    assert options and all(label.startswith("About you") for label in options)


async def test_who_loses_the_right_meanwhile_saves_nothing(world: World) -> None:
    """SPEC §12."""
    admin, place = world.person(world.mara), world.place(world.general)
    await world.engine.config.set(admin, place, "member_access", "on")
    world.model.say('["The inn is haunted"]')
    shown = await _generate(world, world.ana, "server_persona")
    await world.engine.config.set(admin, place, "member_access", "off")
    await world.ana.click(message_of(shown), label="Save all")
    assert "Manage Server" in words(shown) and "The inn is haunted" in words(shown)
    assert await _texts(world, Scope.server(world.guild.id, DEFAULT_LINEAGE)) == []


async def test_in_a_dm_there_is_no_server_to_choose(world: World) -> None:
    shown = await world.ana.user.slash("memory generate", description="We met in May", scope="server_global")
    assert "no server" in words(shown) and "We met in May" in words(shown)
    world.model.say('["Met in May"]')
    await world.ana.user.click(message_of(shown), label="Draft")
    await world.ana.user.click(message_of(shown), label="Save all")
    (memory,) = await _kept(world)
    assert memory.dm_only
    assert "DMs only" in words(shown)


async def test_what_is_there_already_is_skipped_and_said(world: World) -> None:
    await world.ana.slash(world.general, "memory add", text="Likes tea")
    world.model.say('["Likes tea", "Likes rain"]')
    shown = await _generate(world)
    await world.ana.click(message_of(shown), label="Save all")
    assert "Saved 1" in words(shown) and "Already there" in words(shown)
    assert await _texts(world) == ["Likes tea", "Likes rain"]


async def test_a_review_on_an_old_screen_keeps_its_words_and_says_that_nothing_was_saved(
    world: World,
) -> None:
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    await world.restart()
    await world.ana.click(message_of(shown), label="Save all")
    assert "Likes tea" in words(shown) and "nothing was saved" in words(shown)
    assert labels(shown) == []
    assert await _texts(world) == []


async def test_a_review_that_fell_asleep_keeps_its_words(world: World) -> None:
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    await world.env.advance_time(601)
    assert "Likes tea" in words(shown) and "nothing was saved" in words(shown)
    assert "/memory generate" in words(shown)
    assert labels(shown) == []


async def test_a_review_that_was_left_does_not_go_to_sleep_over_what_stands_there_now(world: World) -> None:
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    await world.ana.click(message_of(shown), label="Back")
    await world.env.advance_time(300)
    await world.ana.click(message_of(shown), label="Change the description")
    await world.env.advance_time(301)
    assert "I play the cello" in words(shown) and "Likes tea" not in words(shown)
    assert "Draft" in labels(shown)


async def test_a_finished_review_never_falls_asleep(world: World) -> None:
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    await world.ana.click(message_of(shown), label="Save all")
    await world.env.advance_time(1_300)
    assert "Saved 1" in words(shown) and "nothing was saved" not in words(shown)


async def test_hostile_drafts_are_shown_as_nothing_but_words(world: World) -> None:
    world.model.say(json.dumps(["# **big** @everyone [link](https://evil.example)"]))
    shown = await _generate(world)
    assert "\\# \\*\\*big\\*\\* \\@everyone" in words(shown)


async def test_without_a_model_the_drafts_are_the_sentences_themselves(tmp_path: Any) -> None:
    offline: Any = OfflineModel(tokenizers.by_encoding("o200k_base"))
    async with make_world(tmp_path, offline) as world:
        shown = await _generate(world, description="I play the cello. I am allergic to nuts!")
        assert "No model is configured" in words(shown)
        await world.ana.click(message_of(shown), label="Save all")
        assert await _texts(world) == ["I play the cello.", "I am allergic to nuts!"]


async def test_who_adds_for_a_persona_that_does_not_learn_is_told_that_it_is_not_used_now(
    world: World,
) -> None:
    quiet = Persona(0, world.guild.id, DEFAULT_LINEAGE, "Keepsake", learns=False)
    async with world.engine._rooms.store.write() as tx:
        await tx.personas.add(quiet, "keepsake", None, world.clock.now())
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    await world.ana.click(message_of(shown), label="Save all")
    assert await _texts(world) == ["Likes tea"]
    assert NOT_USED in words(shown)


async def test_a_description_may_be_drafted_in_an_incognito_channel(world: World) -> None:
    await world.engine.config.set(
        world.person(world.mara), world.place(world.general), "memory_mode", "incognito"
    )
    world.model.say('["Likes tea"]')
    shown = await _generate(world)
    await world.ana.click(message_of(shown), label="Save all")
    assert await _texts(world) == ["Likes tea"]
