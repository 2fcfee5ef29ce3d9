"""SPEC §12, row by row, as member, admin and stranger: what each of them sees, and what is stored.

The member is Ana, the admin Mara (Manage Server). The stranger is Ben, a member whom the matter does not
concern, and the outsider somebody who manages another server. After every test nobody was mentioned.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import discord
import pytest
from simcord.actors import MemberActor
from simcord.backend.errors import BackendError
from simcord.builders import ChannelHandle

from memory.types import GLOBAL, Memory, Scope

from .persona_hands import create
from .reading import ids, labels, menus, message_of, press_another, words
from .spec_hands import (
    ACTS,
    NEEDS,
    NOT_THERE,
    a_file,
    answer,
    cards,
    hear,
    menu_in_dm,
    mine,
    put,
    save,
    set_server,
    shared,
    tell,
    texts,
)
from .world import World

ONLY_THEM = "Only the member whom this memory is about can"
MANAGE = "Manage Server"


@pytest.fixture
async def world(world: World) -> AsyncIterator[World]:
    yield world
    assert mentioning(world) == []


def mentioning(world: World) -> list[str]:
    """What the bot posted or changed that may have mentioned somebody."""
    found = []
    for request in world.env.http_requests:
        sent = request.json if isinstance(request.json, dict) else {}
        sent = sent.get("data") or sent.get("message") or sent
        if not sent.keys() & {"content", "embeds", "components"} or "custom_id" in sent:
            continue
        silent = {"parse": [], "replied_user": False}
        if {"replied_user": False} | (sent.get("allowed_mentions") or {}) != silent:
            found.append(f"{request.method} {request.path} {sent.get('allowed_mentions')}")
    return found


def stored(world: World) -> list[str]:
    """Everything that a right protects, as it is kept now."""
    path = world.settings.database_url.partition("///")[2]
    tables = ("memories", "journal", "proposals", "config", "personas", "epochs", "rewinds")
    with sqlite3.connect(path) as db:
        rows = [repr(row) for table in tables for row in db.execute(f"SELECT * FROM {table} ORDER BY 1")]
        rows += [repr(row) for row in db.execute("SELECT id, text, excluded FROM messages ORDER BY 1")]
    db.close()
    return rows


async def refuses(world: World, what: Awaitable[Any], says: str) -> None:
    """It is refused in these words, to who tried alone, and nothing of what is stored was changed."""
    before = stored(world)
    shown = await what
    assert shown.modal is None and says in answer(shown), answer(shown)
    told = shown.followups[-1] if shown.followups else shown.response  # else: the message that was pressed
    assert told.ephemeral
    assert stored(world) == before


async def does(world: World, what: Awaitable[Any]) -> Any:
    """It is done: what is stored is another thing."""
    before = stored(world)
    shown = await what
    assert stored(world) != before, answer(shown)
    return shown


def outsider(world: World) -> tuple[MemberActor, ChannelHandle]:
    """Somebody who manages another server where the bot is, and a channel there."""
    far = world.env.create_guild("Far Harbour")
    managers = far.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
    return far.add_member(world.env.create_user("olga", global_name="Olga"), roles=[managers]), (
        far.create_text_channel("docks")
    )


# --- Memories ---------------------------------------------------------------------------------------------


async def entry_of(world: World, number: int) -> Memory | None:
    async with world.engine._rooms.store.read() as tx:
        return await tx.memories.get(number)


async def test_the_servers_memories_are_changed_with_manage_server_or_by_granted_members(
    world: World,
) -> None:
    """SPEC §12, first row: off for members in a new server; nobody elsewhere."""
    elsewhere = outsider(world)
    for name, act in ACTS.items():
        await set_server(world, "member_access", "default")
        first, second = await put(world, shared(world), f"{name} 1", f"{name} 2", pinned=act.pinned)
        await refuses(world, act.do((world.ana, world.general), f"m{first.id}"), NEEDS)
        await refuses(world, act.do(elsewhere, f"m{first.id}"), NOT_THERE)
        await does(world, act.do((world.mara, world.general), f"m{first.id}"))
        assert act.done(await entry_of(world, first.id)), name
        await set_server(world, "member_access", "on")
        await does(world, act.do((world.ana, world.general), f"m{second.id}"))
        assert act.done(await entry_of(world, second.id)), name


async def test_the_servers_memories_are_added_moved_cleared_and_imported_by_the_same(world: World) -> None:
    """SPEC §12, first row; an import needs Manage Server whoever is granted (§4.3)."""
    people = [(world.ana, NEEDS, False), (world.mara, "", True), (world.ana, "", True)]
    for round_, (who, says, may) in enumerate(people):
        if round_ == 2:
            await set_server(world, "member_access", "on")
        add = who.slash(world.general, "memory add", text=f"New {round_}", scope="server_persona")
        await (does(world, add) if may else refuses(world, add, says))
        own = await put(world, Scope.user(who.id), f"Moved {round_}")
        move = who.slash(world.general, "memory move", entry=f"m{own[0].id}", to="server_persona")
        await (does(world, move) if may else refuses(world, move, says))
        file = ("f.json", a_file(f"Filed {round_}"))
        load = who.slash(world.general, "memory import", scope="server_persona", file=file)
        await (does(world, load) if who is world.mara else refuses(world, load, MANAGE))
        if may:
            asked = await who.slash(world.general, "memory clear", scope="server_persona")
            (button,) = [label for label in labels(asked) if label.startswith("Delete")]
            await does(world, who.click(message_of(asked), label=button))
            assert await texts(world, shared(world)) == []
        else:
            await put(world, shared(world), "Stays")
            clear = who.slash(world.general, "memory clear", scope="server_persona")
            await refuses(world, clear, says)
            assert await texts(world, shared(world)) == ["Stays"]
    olga, docks = outsider(world)
    await olga.slash(docks, "memory add", text="Elsewhere", scope="server_persona")
    assert await texts(world, shared(world)) == []


async def test_personal_memories_are_the_members_alone(world: World) -> None:
    """SPEC §12, second row: an admin's and a stranger's try is answered as if there were no such entry."""
    await set_server(world, "member_access", "on")
    elsewhere = outsider(world)
    for name, act in ACTS.items():
        (entry,) = await put(world, mine(world), f"Ana: {name}", pinned=act.pinned)
        for here in ((world.mara, world.general), (world.ben, world.general), elsewhere):
            await refuses(world, act.do(here, f"m{entry.id}"), NOT_THERE)
        await does(world, act.do((world.ana, world.general), f"m{entry.id}"))
        assert act.done(await entry_of(world, entry.id)), name


async def test_nobody_else_reads_personal_memories_wherever_they_look(world: World) -> None:
    """SPEC §12, second row, admins included; the server's are read in that server only."""
    for scope, text in ((mine(world), "ZEBRA one"), (mine(world, GLOBAL), "ZEBRA two")):
        await put(world, scope, text, pinned=True)
    await put(world, shared(world), "OTTER")
    await hear(world, "I was here")
    olga, docks = outsider(world)
    for who, channel in ((world.mara, world.general), (world.ben, world.general), (olga, docks)):
        seen = []
        for command, options in (
            ("memory search", {"query": "zebra otter"}),
            ("memory history", {"entry": "m1"}),
            ("memory export", {"scope": "user_persona"}),
            ("memories", {}),
            ("personal memories", {}),
            ("pins list", {}),
            ("context preview", {"text": "hi"}),
            ("context last", {}),
            ("context snapshot", {}),
        ):
            shown = await who.slash(channel, command, **options)
            assert message_of(shown).ephemeral, command
            files = [world.env.backend.cdn.get(a.url) or b"" for a in message_of(shown).attachments]
            seen += [answer(shown), *(each.decode("utf-8", "replace") for each in files)]
        seen += [str(await who.autocomplete(channel, "memory edit", "entry", "z"))]
        said = "\n".join(seen)
        assert "ZEBRA" not in said
        assert ("OTTER" in said) == (who is not olga)
        if who is world.mara:
            assert re.search(r"2 × personal|personal memories", said), "counted, not shown"
    shown = await world.ana.slash(world.general, "memory search", query="zebra")
    assert "ZEBRA one" in words(shown) and "ZEBRA two" in words(shown)


async def test_a_confirmation_is_pressed_by_whom_it_concerns(world: World) -> None:
    """SPEC §12: rights are checked again at every button; a button of another server reaches nothing."""
    await tell(world, save("Ana sings"))
    olga, docks = outsider(world)
    await olga.send(docks, world.call("hello"))
    reply = world.said_by_bot(docks)[-1]
    for label, left in (("Pin", ["Ana sings"]), ("Edit", ["Ana sings alone"]), ("Undo", ["Ana sings"])):
        card = cards(world)[-1]
        for who in (world.mara, world.ben):
            await refuses(world, who.click(card, label=label), ONLY_THEM)
        await refuses(world, press_another(olga, reply, ids(card, label)[0]), "nothing was changed")
        pressed = await world.ana.click(card, label=label)
        if label == "Edit":
            await world.ana.submit_modal(pressed, {"text": "Ana sings alone"})
        assert await texts(world, mine(world)) == left and words(cards(world)[-1]) != words(card)


# --- The conversation -------------------------------------------------------------------------------------


async def test_regenerate_is_the_authors_and_manage_servers(world: World) -> None:
    """SPEC §12, third row."""
    await hear(world)
    reply = world.said_by_bot(world.general)[-1]

    async def again(who: MemberActor) -> Any:
        return await who.context_menu(world.general, "Regenerate", reply)

    await refuses(world, again(world.ben), "Only who asked, or somebody with Manage Server")
    for who, text in ((world.ana, "for Ana"), (world.mara, "for Mara")):
        world.model.say(text)
        await again(who)
        assert [m.content for m in world.said_by_bot(world.general)] == [text]


async def test_rewind_and_restore_are_manage_servers_and_in_a_dm_the_members(world: World) -> None:
    """SPEC §12, fourth row."""
    point = await world.ana.send(world.general, world.call("hello"))
    await hear(world, "more")
    for who in (world.ana, world.ben):
        await refuses(world, who.context_menu(world.general, "Rewind to here", point), MANAGE)
    question = await world.mara.context_menu(world.general, "Rewind to here", point)
    await does(world, world.mara.click(message_of(question), label="Rewind"))
    marker = (await world.ana.slash(world.general, "refresh")).response
    for who in (world.ana, world.ben):
        await refuses(world, who.click(marker, label="Restore"), MANAGE)
    await does(world, world.mara.click(marker, label="Restore"))
    point = await world.ana.send_dm("hello")
    await world.ana.send_dm("more")
    question = await menu_in_dm(world, "Rewind to here", point)
    await does(world, world.ana.user.click(message_of(question), label="Rewind"))
    marker = (await world.ana.user.slash("refresh")).response
    await does(world, world.ana.user.click(marker, label="Restore"))


async def test_refresh_and_fork_are_for_who_can_write_in_the_channel(world: World) -> None:
    """SPEC §12, fifth row: the stranger can read there and not write."""
    mute = discord.PermissionOverwrite(send_messages=False)
    room = world.guild.create_text_channel("room", overwrites={world.ben: mute})
    await hear(world, channel=room)
    reply = world.said_by_bot(room)[-1]
    await refuses(world, world.ben.slash(room, "refresh"), "Only who can write")
    await refuses(world, world.ben.context_menu(room, "Fork here", reply), "Only who can write")
    assert room.threads == []
    for number, who in enumerate((world.ana, world.mara), 1):
        await who.context_menu(room, "Fork here", reply)
        assert len(room.threads) == number
        await does(world, who.slash(room, "refresh"))


async def test_one_excludes_ones_own_messages_and_replies_to_oneself_and_an_admin_any(world: World) -> None:
    """SPEC §12, sixth row."""
    said = await world.ana.send(world.general, world.call("hello"))
    reply = world.said_by_bot(world.general)[-1]
    other = await world.mara.send(world.general, world.call("good evening"))

    async def exclude(who: MemberActor, message: Any) -> Any:
        return await who.context_menu(world.general, "Exclude from prompt", message)

    for who, message in ((world.ben, said), (world.ben, reply), (world.ben, other), (world.ana, other)):
        await refuses(world, exclude(who, message), "your own messages")
    for who, message in ((world.ana, said), (world.ana, reply), (world.mara, said), (world.mara, other)):
        await does(world, exclude(who, message))


@pytest.mark.parametrize("about", ["server", "user"], ids=lambda about: f"SPEC §12 approve: {about}")
async def test_a_suggestion_is_decided_by_who_has_access_or_by_its_subject(world: World, about: str) -> None:
    """SPEC §12, seventh row: at the card and in the queue."""
    await hear(world, who=world.mara)
    await world.ben.send(world.general, world.call("hello"))
    more = {"user": "Ben"} if about == "user" else {}
    for number in range(4):
        await tell(world, save(f"Fact {number}", about=about, **more))
    decider, refusal = (world.ben, ONLY_THEM) if about == "user" else (world.mara, NEEDS)
    first, second = cards(world)[:2]
    for card, label in ((first, "Approve"), (second, "Discard")):
        for who in {world.ana, world.ben, world.mara} - {decider}:
            await refuses(world, who.click(card, label=label), refusal)
            assert "Nothing waits for you here" in words(await who.slash(world.general, "approvals"))
        await does(world, decider.click(card, label=label))
    if about == "server":
        await set_server(world, "member_access", "on")
        decider = world.ana
    queue = await decider.slash(world.general, "approvals")
    for label in ("Approve", "Discard"):
        await does(world, decider.click(message_of(queue), custom_id=ids(queue, label)[0]))
    scope = shared(world) if about == "server" else Scope.user(world.ben.id, "keepsake")
    assert await texts(world, scope) == ["Fact 0", "Fact 2"]


async def test_the_preview_is_for_who_can_read_the_channel(world: World) -> None:
    """SPEC §12, last row; the whole prompt is Manage Server's (§5)."""
    await world.mara.send(world.council, world.call("the vault is open"))
    shown = await world.mara.slash(world.council, "context preview")
    assert "What I would be given now" in words(shown) and message_of(shown).ephemeral
    for who in (world.ana, world.ben):
        with pytest.raises(BackendError):  # Discord shows them neither the channel nor its commands
            await who.slash(world.council, "context preview")
        assert "What I would be given now" in words(await who.slash(world.general, "context preview"))
        await refuses(world, who.slash(world.general, "context snapshot"), MANAGE)


# --- Buttons, modals, panels ------------------------------------------------------------------------------


async def test_a_review_and_a_panels_undo_ask_for_the_right_again(world: World) -> None:
    """SPEC §12: other buttons and boxes are in test_rights.py, test_keeping.py and test_personas.py."""
    message = await world.ben.send(world.general, "Movie night is on Friday")
    review = await world.mara.context_menu(world.general, "Save to memory", message)
    scopes = menus(review)[1]
    value = next(o["value"] for o in scopes["options"] if o["label"].startswith("About this server"))
    await world.mara.select(message_of(review), [value], custom_id=scopes["custom_id"])
    await world.mara.click(message_of(review), label="Use as-is")
    panel = await world.mara.slash(world.general, "memories")
    box = await world.mara.click(message_of(panel), label="Add")
    await world.mara.submit_modal(box, {"text": "The inn closes at ten"})
    before = stored(world)
    world.env.backend.get_guild(world.guild.id).members[world.mara.id].role_ids.clear()
    for shown, label in ((review, "Save all"), (panel, "Undo")):
        await world.mara.click(message_of(shown), label=label)
        assert NEEDS in words(shown), label
    assert stored(world) == before


async def test_panels_answer_to_who_opened_them_alone(world: World) -> None:
    """SPEC §12: whatever opens one; another's press changes neither what is seen nor what is stored."""
    await create(world, "Aria")
    await put(world, shared(world), "The inn closes at ten")
    await put(world, Scope.user(world.mara.id, "keepsake"), "Mara sings", pinned=True)
    await tell(world, save("Quiet hours begin at ten", about="server"))
    message = await world.ben.send(world.general, "Movie night")
    world.model.say('["Likes tea"]')
    mara, general = world.mara, world.general
    opened = {
        "memories": await mara.slash(general, "memories"),
        "personal memories": await mara.slash(general, "personal memories"),
        "pins list": await mara.slash(general, "pins list"),
        "memory search": await mara.slash(general, "memory search", query="inn"),
        "memory generate": await mara.slash(general, "memory generate", description="Likes tea"),
        "memory clear": await mara.slash(general, "memory clear", scope="server_persona"),
        "memory delete": await mara.slash(general, "memory delete", entry="m2"),
        "Save to memory": await mara.context_menu(general, "Save to memory", message),
        "approvals": await mara.slash(general, "approvals"),
        "config show": await mara.slash(general, "config show"),
        "persona edit": await mara.slash(general, "persona edit", persona="Aria"),
        "persona delete": await mara.slash(general, "persona delete", persona="Aria"),
        "help": await mara.slash(general, "help"),
    }
    questions = {"memory clear", "memory delete", "persona delete"}  # a press there does nothing at all
    before = stored(world)
    for name, shown in opened.items():
        world.env.backend.get_message(general.id, message_of(shown).id).flags &= ~64  # as if all saw it
        seen = words(shown)
        for label in labels(shown)[:1]:
            pressed = await world.ana.click(message_of(shown), custom_id=ids(shown, label)[0])
            assert pressed.modal is None
            assert ("belongs to who opened it" in answer(pressed)) == (name not in questions), name
            assert words(shown) == seen and stored(world) == before, name
