"""A small bot with everything that the playground must carry, so that its tests need no engine.

Run as a program it is a playground of its own: ``python standin.py FOLDER PORT``.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import discord
from discord import app_commands
from discord.ext import commands, tasks
from PIL import Image

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import play


class Undo(discord.ui.DynamicItem[discord.ui.Button[discord.ui.View]], template=r"undo:(?P<at>\d+)"):
    def __init__(self, at: int) -> None:
        super().__init__(discord.ui.Button(label="Undo", custom_id=f"undo:{at}"))
        self.at = at

    @classmethod
    async def from_custom_id(cls, interaction, item, match):
        return cls(int(match["at"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        interaction.client.forget(self.at)
        embed = interaction.message.embeds[0]
        embed.title, embed.description = "Undone", f"~~{embed.description}~~"
        await interaction.response.edit_message(embed=embed, view=None)


class Ask(discord.ui.Modal, title="Add a memory"):
    text: discord.ui.TextInput[discord.ui.View] = discord.ui.TextInput(label="What should I keep?")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        interaction.client.remember(str(self.text))
        await interaction.response.send_message(f"Kept: {self.text}", ephemeral=True)


class Form(discord.ui.Modal, title="Bring something"):
    kind = discord.ui.Label(
        text="What is it?",
        component=discord.ui.Select(
            options=[discord.SelectOption(label="Letter"), discord.SelectOption(label="Map")]
        ),
    )
    file = discord.ui.Label(text="The file", component=discord.ui.FileUpload())
    words = discord.ui.Label(text="A word to it", component=discord.ui.TextInput(required=False))

    async def on_submit(self, interaction: discord.Interaction) -> None:
        file = self.file.component.values[0]
        content = (await file.read()).decode()
        said = f"{self.kind.component.values[0]} {file.filename}: {content} {self.words.component.value}"
        await interaction.response.send_message(said.strip())


class Panel(discord.ui.LayoutView):
    def __init__(self, facts: list[str]) -> None:
        super().__init__(timeout=120)
        box = discord.ui.Container()
        box.add_item(discord.ui.TextDisplay("## What I keep\n" + "\n".join(f"- {fact}" for fact in facts)))
        add = discord.ui.Button(label="Add", style=discord.ButtonStyle.primary)
        add.callback = self.ask
        box.add_item(discord.ui.ActionRow(add))
        self.add_item(box)

    async def ask(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_modal(Ask())


class Bot(commands.AutoShardedBot):
    """Remembers what it is told to, in a file; ``beats`` counts a ``tasks.loop``."""

    def __init__(self, file: Path) -> None:
        intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
        super().__init__(command_prefix=commands.when_mentioned, help_command=None, intents=intents)
        self.file = file
        self.beats = 0
        self.heard: list[int] = []
        self.slow: asyncio.Task[None] | None = None

    def facts(self) -> list[str]:
        return json.loads(self.file.read_text("utf-8")) if self.file.exists() else []

    def remember(self, text: str) -> int:
        facts = [*self.facts(), text]
        self.file.write_text(json.dumps(facts), "utf-8")
        return len(facts) - 1

    def forget(self, at: int) -> None:
        facts = self.facts()
        del facts[at]
        self.file.write_text(json.dumps(facts), "utf-8")

    async def setup_hook(self) -> None:
        self.add_dynamic_items(Undo)
        for command in (memory, find, tone, think, silent, admin, note, bring, weigh, keep, add_note):
            self.tree.add_command(command)
        await self.tree.sync()
        self.beat.start()

    async def close(self) -> None:
        self.beat.cancel()
        await super().close()

    @tasks.loop(seconds=0.05)
    async def beat(self) -> None:
        self.beats += 1

    async def on_message(self, message: discord.Message, /) -> None:
        self.heard.append(message.id)
        to_us = message.guild is None or self.user in message.mentions or message.reference is not None
        if message.author.bot or not to_us:
            return
        said = message.reference.resolved if message.reference is not None else None
        if said is not None and said.webhook_id is not None:
            await message.channel.send(f"You answered {said.author.name}, who said {said.content}")
            return
        words = message.content.replace(f"<@{self.user.id}>", "").strip()
        verb, _, rest = words.partition(" ")
        answer = getattr(self, f"do_{verb}", None)
        if answer is not None:
            await answer(message, rest)
        else:
            facts = "; ".join(self.facts())
            await message.reply(f"You told me: {facts}" if facts else "I know nothing yet.")

    async def do_remember(self, message: discord.Message, rest: str) -> None:
        fact = rest.removeprefix("that ")
        view = discord.ui.View(timeout=None)
        view.add_item(Undo(self.remember(fact)))
        await message.reply(f"I'll remember: {fact}")
        await message.channel.send(embed=discord.Embed(title="Saved", description=fact), view=view)

    async def do_story(self, message: discord.Message, rest: str) -> None:
        """Streams: a word more with every edit, for as long as nobody stops it."""
        async with message.channel.typing():
            told = await message.channel.send("Once")
            for count in range(1, 600):
                await asyncio.sleep(0.1)
                await told.edit(content="Once" + " upon" * count)

    async def do_type(self, message: discord.Message, rest: str) -> None:
        await message.channel.typing()

    async def do_later(self, message: discord.Message, rest: str) -> None:
        async def later() -> None:
            await asyncio.sleep(0.3)
            await message.channel.send("This came by itself.")

        self.slow = asyncio.create_task(later())

    async def do_persona(self, message: discord.Message, rest: str) -> None:
        hook = await self.captain(message.channel)
        await hook.send("Arr.", username="Captain Vane", wait=True)

    async def captain(self, channel: discord.TextChannel) -> discord.Webhook:
        hooks = [hook for hook in await channel.webhooks() if hook.user == self.user]
        return hooks[0] if hooks else await channel.create_webhook(name="Captain", avatar=picture("red"))

    async def do_troupe(self, message: discord.Message, rest: str) -> None:
        """Two personas in the channel and in a thread: one corrects itself, one takes its word back."""
        hook = await self.captain(message.channel)
        await hook.send("Arr.")
        await hook.send("Meow.", username="The cat")
        await hook.edit(name="Admiral", avatar=picture("blue"))
        thread = await message.channel.create_thread(
            name="Aboard", type=discord.ChannelType.public_thread, auto_archive_duration=1440
        )
        first = await hook.send("Belw deck.", thread=thread, wait=True)
        second = await hook.send("Forget me.", thread=thread, wait=True)
        await hook.edit_message(first.id, content="Below deck.", thread=thread)
        await hook.delete_message(second.id, thread=thread)

    async def do_correct(self, message: discord.Message, rest: str) -> None:
        """A first message, then others that are edited: words, code, an embed alone."""
        await message.channel.send("So it begins.")
        words = await message.channel.send("A frist draft.")
        await words.edit(content="A first draft.")
        code = await message.channel.send("`1`")
        await code.edit(content="```\n2\n```")
        card = await message.channel.send(embed=discord.Embed(title="Old"))
        await card.edit(embed=discord.Embed(title="New"))

    async def do_ask(self, message: discord.Message, rest: str) -> None:
        view = discord.ui.View(timeout=None)
        options = [discord.SelectOption(label=label) for label in ("Rum", "Tea", "Milk")]
        view.add_item(discord.ui.Select(custom_id="drinks", max_values=3, options=options))
        await message.channel.send("What do you drink?", view=view)

    async def do_secret(self, message: discord.Message, rest: str) -> None:
        thread = await message.channel.create_thread(name="Behind the curtain")
        await thread.add_user(message.author)
        await thread.send("Only you and I.")

    async def do_where(self, message: discord.Message, rest: str) -> None:
        first = [item async for item in message.channel.history(limit=200)][-1]
        nowhere = f"https://discord.com/channels/{message.guild.id}/123/456"
        gone = f"https://discord.com/channels/{message.guild.id}/{message.channel.id}/456"
        there = self.get_channel(int(rest)).last_message_id if rest else 0
        other = f"https://discord.com/channels/{message.guild.id}/{rest}/{there}"
        await message.channel.send(
            embed=discord.Embed(
                description=f"[first]({first.jump_url}) [nowhere]({nowhere}) [gone]({gone}) [other]({other})"
            )
        )

    async def do_thread(self, message: discord.Message, rest: str) -> None:
        thread = await message.create_thread(name="A side story")
        await thread.send("Here it goes on.")

    async def do_file(self, message: discord.Message, rest: str) -> None:
        content = await message.attachments[0].read()
        await message.reply(f"{message.attachments[0].filename} says {content.decode()}")


@app_commands.command(description="What I keep")
async def memory(interaction: discord.Interaction) -> None:
    await interaction.response.send_message(view=Panel(interaction.client.facts()), ephemeral=True)


@app_commands.command(description="Find a memory")
async def find(interaction: discord.Interaction, text: str) -> None:
    await interaction.response.send_message(f"Found: {text}", ephemeral=True)


@find.autocomplete("text")
async def _complete(interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
    facts = [fact for fact in interaction.client.facts() if current.lower() in fact.lower()]
    return [app_commands.Choice(name=fact, value=fact) for fact in facts[:25]]


@app_commands.command(description="How I speak")
@app_commands.choices(
    how=[
        app_commands.Choice(name="Softly, as at night", value="soft"),
        app_commands.Choice(name="Loudly, as in a storm", value="loud"),
    ]
)
async def tone(interaction: discord.Interaction, how: app_commands.Choice[str], words: str) -> None:
    await interaction.response.send_message(f"{how.value}: {words}", ephemeral=True)


@app_commands.command(description="Think first")
async def think(interaction: discord.Interaction) -> None:
    await interaction.response.defer(thinking=True)
    await asyncio.sleep(0.3)
    await interaction.followup.send("I have thought.")


@app_commands.command(description="Never answers")
async def silent(interaction: discord.Interaction) -> None:
    pass


@app_commands.command(description="For who manages the server")
@app_commands.default_permissions(manage_guild=True)
async def admin(interaction: discord.Interaction) -> None:
    await interaction.response.send_message("You manage this server.", ephemeral=True)


note = app_commands.Group(name="note", description="Notes")


@note.command(name="add", description="Note something")
async def note_add(interaction: discord.Interaction) -> None:
    await interaction.response.send_message("Noted.")


@app_commands.command(description="Bring a file")
async def bring(interaction: discord.Interaction) -> None:
    await interaction.response.send_modal(Form())


@app_commands.command(description="Weigh a file")
async def weigh(interaction: discord.Interaction, file: discord.Attachment) -> None:
    await interaction.response.send_message(f"{file.filename} has {len(await file.read())} bytes.")


@app_commands.context_menu(name="Add a note")
async def add_note(interaction: discord.Interaction, message: discord.Message) -> None:
    await interaction.response.send_modal(Ask())


@app_commands.context_menu(name="Save to memory")
async def keep(interaction: discord.Interaction, message: discord.Message) -> None:
    interaction.client.remember(message.content)
    await interaction.response.send_message(f"Kept: {message.content}", ephemeral=True)


def picture(color: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 64), color).save(out, "PNG")
    return out.getvalue()


def maker(folder: Path) -> Callable[[], Bot]:
    return lambda: Bot(folder / "facts.json")


def now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    try:
        asyncio.run(play.run(maker(place), data_dir=place, port=int(sys.argv[2]), clock_now=now))
    except play.PlayError as refused:
        sys.exit(f"refused: {refused}")
