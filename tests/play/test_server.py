"""The playground's page as a browser asks for it: who is let in, what is live, what never goes wrong."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import play
from play.server import PlayServer
from play.simulation import LiveEnv

from .standin import maker, now
from .tabs import Served, Tab


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with play.World(maker(tmp_path), data_dir=tmp_path, clock_now=now) as world:
        server = PlayServer(world, "a test")
        await server.start(0)
        async with aiohttp.ClientSession() as http:
            yield Served(world, server, http)
        await server.stop()


# --- Who is let in ---


async def test_the_page_and_its_files_are_served_to_this_machine(served: Served) -> None:
    for path in (
        "/",
        "/frame",
        "/play/shell.js",
        "/play/shell.css",
        "/play/frame.js",
        "/play/frame.css",
        "/play/messages.js",
        "/app.js",
    ):
        assert await served.status("GET", path, {}) == 200, path


async def test_without_the_token_nothing_is_told_or_done(served: Served) -> None:
    for headers in ({}, {"X-Play-Token": "guess"}, {"X-Simcord-Capability": "guess"}):
        assert await served.status("GET", "/play/world?as=ana", headers) == 401
        assert await served.status("POST", "/play/seat", headers, {}) == 401
        assert await served.status("POST", "/play/restart", headers, {}) == 401
        assert await served.status("POST", "/api/pages", headers, {}) == 401
        assert await served.status("GET", "/api/state", headers) == 401
        assert await served.status("POST", "/play/menus", headers, {}) == 401
        assert await served.status("POST", "/play/upload", headers, {}) == 401


async def test_another_name_for_this_machine_is_refused(served: Served) -> None:
    """DNS rebinding: a foreign page's name that points here is not this page."""
    headers = {"X-Play-Token": served.server.token, "Host": "evil.example"}
    assert await served.status("GET", "/", headers) == 403
    assert await served.status("GET", "/frame", headers) == 403
    assert await served.status("GET", "/play/world?as=ana", headers) == 403


async def test_a_foreign_page_is_refused_even_with_the_token(served: Served) -> None:
    headers = {"X-Play-Token": served.server.token, "Origin": "https://evil.example"}
    assert await served.status("POST", "/play/restart", headers, {}) == 403
    tab = await served.tab("ana")
    assert await served.status("POST", "/api/action", {**tab.headers, "Origin": "null"}, {}) == 403


async def test_the_server_listens_on_the_loopback_only(served: Served) -> None:
    runner = served.server._runner
    assert runner is not None
    assert {address[0] for address in runner.addresses} == {"127.0.0.1"}


async def test_no_foreign_page_can_frame_the_playground(served: Served) -> None:
    async with served.http.get(served.base + "/") as answer:
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    async with served.http.get(served.base + "/frame") as answer:
        assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"


async def test_a_seat_is_given_only_where_the_person_may_be(served: Served) -> None:
    token = {"X-Play-Token": served.server.token}
    council = str(served.world.room("council"))
    benslines = str(served.world.dm("ben"))
    for person, channel, status in (
        ("ana", council, 404),
        ("mara", council, 200),
        ("ana", benslines, 404),
        ("nobody", council, 404),
        ("ana", "1", 404),
        ("ana", "x", 400),
    ):
        assert await served.status("POST", "/play/seat", token, {"as": person, "channel": channel}) == status


async def test_a_seats_token_opens_no_other_seat(served: Served) -> None:
    ana, mara = await served.tab("ana"), await served.tab("mara", "council")
    stolen = {**ana.headers, "X-Simcord-Context": mara.headers["X-Simcord-Context"]}
    assert await served.status("GET", "/api/state", stolen) == 410
    assert await served.status("GET", "/play/world?as=mara", ana.headers) == 401


async def test_a_taken_port_is_left_for_the_next_free_one(served: Served) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        other = PlayServer(served.world, "")
        assert await other.start(port) is False
        assert other.port is not None
        assert port < other.port <= port + 20
        await other.stop()


# --- Live ---


async def test_a_person_says_something_and_the_answer_appears_by_itself(served: Served) -> None:
    tab = await served.tab("ana")
    receipt = await tab.say("@Keepsake hello")
    assert receipt["settlement"] == "settled"
    assert await tab.sees("I know nothing yet.", within=1)
    assert f"<@{served.world.bot_id}> hello" in tab.texts()


async def test_streaming_is_seen_word_by_word(served: Served) -> None:
    tab = await served.tab("ana")
    started = time.monotonic()
    await tab.say("@Keepsake story")
    assert time.monotonic() - started < 1
    lengths = []
    while len(lengths) < 4:
        told = [line for line in await tab.look() if line.startswith("Once")]
        if told and len(told[0]) not in lengths:
            lengths.append(len(told[0]))
        await asyncio.sleep(0.02)
    assert lengths == sorted(lengths)
    assert tab.snapshot["status"] == "current"


async def test_typing_is_told_with_each_look(served: Served) -> None:
    tab, other = await served.tab("ana"), await served.tab("ana", "tavern")
    await tab.say("@Keepsake type")
    await tab.look()
    await other.look()
    assert (tab.typing, other.typing) == (True, False)


async def test_two_people_act_at_once_while_the_bot_works(served: Served) -> None:
    ana, ben = await served.tab("ana"), await served.tab("ben")
    await ana.say("@Keepsake story")
    assert await ana.sees("upon")
    receipts = await asyncio.gather(
        *(ana.say("I wait."), ben.say("I talk.")),
        *(other.say("And I.") for other in [await served.tab("mara")]),
    )
    assert [receipt["settlement"] for receipt in receipts] == ["settled"] * 3
    await asyncio.gather(ana.look(), ben.look())
    assert {"I wait.", "I talk.", "And I."} <= set(ana.texts())
    assert ana.texts()[:-1] == ben.texts()[:-1]


async def test_one_person_in_two_tabs_is_never_told_to_wait(served: Served) -> None:
    one, two = await served.tab("ana"), await served.tab("ana")
    receipts = await asyncio.gather(one.say("one"), two.say("two"), return_exceptions=True)
    assert all(isinstance(receipt, dict) and receipt["settlement"] == "settled" for receipt in receipts)


async def test_a_press_prepared_before_the_latest_word_still_counts(served: Served) -> None:
    tab = await served.tab("ana")
    await tab.say("@Keepsake remember that I'm tall")
    notice = ""
    end = time.monotonic() + 5
    while not notice and time.monotonic() < end:
        await tab.look()
        notice = next((key for key, item in tab.snapshot["messages"].items() if item["components"]), "")
    button = tab.snapshot["messages"][notice]["components"][0]["components"][0]
    for _ in range(3):
        await served.world.say("ben", tab.channel, "The picture changes.")
    other = await served.tab("ana")
    await other.look()
    receipt = await tab.act("click", target_id=notice, control_key=button["control_key"])
    assert (receipt["settlement"], receipt["acknowledgement"]) == ("settled", "acknowledged")
    await tab.look()
    assert tab.snapshot["messages"][notice]["embeds"][0]["title"] == "Undone"


async def test_a_command_that_is_never_answered_is_said_so_within_discords_time(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("play.simulation.ANSWER_WITHIN", 0.3)
    tab = await served.tab("ana")
    receipt = await _run(tab, "silent")
    assert receipt["acknowledgement"] == "unacknowledged"
    assert (await tab.say("I go on."))["settlement"] == "settled"


async def test_an_ephemeral_panel_is_drawn_for_its_owner_alone(served: Served) -> None:
    ana, ben = await served.tab("ana"), await served.tab("ben")
    await _run(ana, "memory")
    before = len(await ben.look())
    assert len(await ana.look()) == before + 1


async def test_a_look_that_finds_nothing_new_keeps_the_picture(served: Served) -> None:
    tab = await served.tab("ana")
    await tab.look()
    revision = tab.snapshot["publishedRevision"]
    await served.world.say("ben", served.world.room("tavern"), "Elsewhere.")
    await tab.look()
    assert tab.snapshot["publishedRevision"] == revision
    await served.world.say("ben", tab.channel, "Here.")
    await tab.look()
    assert tab.snapshot["publishedRevision"] > revision


async def test_direct_messages_work_as_a_channel_does(served: Served) -> None:
    tab = await served.tab("ben", "dm")
    await tab.say("hello")
    assert await tab.sees("I know nothing yet.")


async def test_a_message_menu_runs_on_the_message_and_answers_its_user(served: Served) -> None:
    tab = await served.tab("ana")
    assert (await served.ask("GET", "/play/menus", headers=tab.headers))["menus"] == [
        "Add a note",
        "Save to memory",
    ]
    message = tab.snapshot["timeline"][0]
    body = {"page": tab.headers["X-Simcord-Context"], "message": message, "name": "Save to memory"}
    assert (await served.ask("POST", "/play/menus", body, tab.headers))["said"] == ""
    assert await tab.sees("Kept: The tavern's chimney")
    gone = {**body, "message": "123"}
    assert (await served.ask("POST", "/play/menus", gone, tab.headers))["said"] != ""


async def test_a_file_is_sent_with_a_message(served: Served) -> None:
    tab = await served.tab("ana")
    form = aiohttp.FormData()
    form.add_field("file", b"hello", filename="note.txt")
    form.add_field("text", "@Keepsake file")
    async with served.http.post(served.base + "/play/upload", data=form, headers=tab.headers) as answer:
        assert (await answer.json())["said"] == ""
    assert await tab.sees("note.txt says hello")


async def test_the_list_tells_people_channels_and_what_is_new(served: Served) -> None:
    look = await served.ask("GET", "/play/world?as=mara")
    assert [person["name"] for person in look["people"]] == ["Ana", "Ben", "Mara"]
    assert [(place["name"], place["kind"]) for place in look["channels"]] == [
        ("general", "text"),
        ("tavern", "text"),
        ("council", "private"),
        ("Keepsake", "dm"),
    ]
    said = await served.world.say("ben", served.world.room("tavern"), "New.")
    look = await served.ask("GET", "/play/world?as=mara")
    assert look["channels"][1]["last"] == str(said)
    assert look["bot"]["online"] is True


# --- The bot starts again ---


async def test_the_button_restarts_the_bot_and_the_page_goes_on(served: Served) -> None:
    tab = await served.tab("ana")
    await tab.say("@Keepsake remember that I'm allergic to peanuts")
    assert await tab.sees("I'll remember")
    former = served.world.bot
    assert await served.ask("POST", "/play/restart", {}) == {"restarted": True}
    assert served.world.bot is not former
    await tab.say("@Keepsake what am I allergic to?")
    assert await tab.sees("You told me: I'm allergic to peanuts")


async def test_what_is_said_during_a_restart_waits_for_the_bot(served: Served) -> None:
    tab = await served.tab("ana")
    restart = asyncio.create_task(served.world.restart())
    await asyncio.sleep(0)
    assert not served.world.online.is_set()
    assert (await tab.say("@Keepsake hello"))["settlement"] == "settled"
    await restart
    assert await tab.sees("I know nothing yet.")


async def test_a_bot_that_does_not_start_is_told_on_the_page(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: LiveEnv, bot: object) -> None:
        raise RuntimeError("no database")

    with monkeypatch.context() as patch:
        patch.setattr(LiveEnv, "attach", refuse)
        headers = {"X-Play-Token": served.server.token}
        async with served.http.post(served.base + "/play/restart", json={}, headers=headers) as answer:
            assert answer.status == 500
            assert "no database" in (await answer.json())["error"]
    await served.ask("POST", "/play/restart", {})


async def _run(tab: Tab, name: str) -> dict[str, Any]:
    catalog = await tab.served.ask("GET", "/api/commands", headers=tab.headers)
    entry = next(item for item in catalog["entries"] if item["invocation"] == name)
    await tab.look()
    return await tab.act(
        "run_command",
        command_id=entry["commandId"],
        path=entry["path"],
        schema_fingerprint=entry["schemaFingerprint"],
        options={},
    )
