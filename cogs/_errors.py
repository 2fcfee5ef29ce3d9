"""The one place where an exception of a command or a button becomes a sentence.

A person is told what happened, what was kept and what to do; only the log sees the traceback, under an id
that the person is given too. An interaction that Discord has forgotten is no error: it is logged in a line.
"""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
from collections.abc import AsyncIterator

import aiohttp
import discord
from discord import app_commands

from cogs._render import escape
from cogs.views.pages import cut
from memory.errors import KeepsakeError, ModelError, StoreError
from memory.ports import DeliveryError

log = logging.getLogger(__name__)

UNKNOWN_INTERACTION = 10062
"""Discord: the interaction is over three seconds old, or was answered by somebody else."""

ALREADY_ANSWERED = 40060
"""Discord: this interaction was acknowledged before."""

UNKNOWN_MESSAGE = 10008
UNKNOWN_WEBHOOK = 10015
"""Discord's word for an interaction whose 15 minutes are over."""

_LATE = (UNKNOWN_INTERACTION, ALREADY_ANSWERED, UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK)


class Tree(app_commands.CommandTree[discord.Client]):
    """The command tree whose errors end here. Commands work in servers and in direct messages with us."""

    def __init__(self, client: discord.Client) -> None:
        super().__init__(
            client,
            allowed_contexts=app_commands.AppCommandContext(
                guild=True, dm_channel=True, private_channel=False
            ),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        )

    async def on_error(
        self, interaction: discord.Interaction, error: app_commands.AppCommandError, /
    ) -> None:
        await answer(interaction, error)


async def answer(interaction: discord.Interaction, error: BaseException) -> None:
    """Tell who acted, by a message that only they see. Never raises."""
    cause = unwrap(error)
    if is_late(cause):
        log.info("an interaction was no longer there: %s", type(cause).__name__)
        return
    line = sentence(cause)
    if line is None:
        mark = secrets.token_hex(3)
        log.error("error %s in %s", mark, _what(interaction), exc_info=cause)
        line = (
            f"Something went wrong on my side (error `{mark}`). What was saved before is kept."
            " Please try again; if it stays like this, give that id to whoever runs this bot."
        )
    await whisper(interaction, line)


@contextlib.asynccontextmanager
async def answering(interaction: discord.Interaction) -> AsyncIterator[None]:
    """Whatever is raised inside becomes a sentence: for presses, whose errors discord.py only logs."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the last place that can tell the person who pressed
        await answer(interaction, error)


async def whisper(interaction: discord.Interaction, line: str) -> None:
    """Say a line that only who acted can see, as response or follow-up. Never raises."""
    quiet = discord.AllowedMentions.none()
    try:
        if interaction.response.is_done():
            await interaction.followup.send(line, ephemeral=True, allowed_mentions=quiet)
        else:
            await interaction.response.send_message(line, ephemeral=True, allowed_mentions=quiet)
    except (discord.HTTPException, discord.InteractionResponded, aiohttp.ClientError, OSError) as error:
        log.info("a line could not be said to who acted: %s", type(error).__name__)


def unwrap(error: BaseException) -> BaseException:
    """The exception itself, out of discord.py's wrappers."""
    while isinstance(error, app_commands.CommandInvokeError):
        error = error.original
    return error


def is_late(error: BaseException) -> bool:
    """Did Discord forget the interaction, or was it answered already?"""
    if isinstance(error, discord.InteractionResponded):
        return True
    return isinstance(error, discord.HTTPException) and error.code in _LATE


_OWN_COMMAND = re.compile(r"\\`(/[a-z]+(?: [a-z]+)?)\\`")
"""A command that one of our errors names, escaped with the words of people in it."""


def known(error: KeepsakeError) -> str:
    """What a person is told of an error of ours, as it may be shown."""
    said = _OWN_COMMAND.sub(r"`\1`", escape(_ended(str(error))))
    if isinstance(error, StoreError):
        return f"{said} Nothing was changed; please try again in a moment."
    again = isinstance(error, ModelError) and error.again
    return f"{said} You can try again." if again else said


def sentence(error: BaseException) -> str | None:
    """What a person is told of it, as it may be shown; None for what nobody foresaw."""
    if isinstance(error, KeepsakeError):
        return known(error)
    if isinstance(error, DeliveryError | discord.Forbidden):
        return (
            "Discord does not let me post that here. Nothing was lost; check my permissions in this channel."
        )
    if isinstance(error, discord.HTTPException | aiohttp.ClientError | TimeoutError):
        return "Discord did not answer as it should. What was saved is kept; please try again in a moment."
    if isinstance(error, app_commands.AppCommandError):
        return _command_sentence(error)
    return None


def _command_sentence(error: app_commands.AppCommandError) -> str | None:
    if isinstance(error, app_commands.MissingPermissions):
        names = ", ".join(name.replace("_", " ").title() for name in error.missing_permissions)
        return f"That needs the permission {names}. Nothing was changed."
    if isinstance(error, app_commands.BotMissingPermissions):
        names = ", ".join(name.replace("_", " ").title() for name in error.missing_permissions)
        return f"I lack the permission {names} here. Nothing was changed."
    if isinstance(error, app_commands.NoPrivateMessage):
        return "That works in a server only. Nothing was changed."
    if isinstance(error, app_commands.CommandOnCooldown):
        return f"Please wait {error.retry_after:.0f} seconds, then try again."
    if isinstance(error, app_commands.TransformerError):
        typed = escape(cut(" ".join(str(error.value).split()), 80))
        return f"I can't read “{typed}” there. Nothing was changed; pick one from the list."
    if isinstance(error, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch):
        return "That command has changed. Please reload Discord (Ctrl+R) and try again."
    if isinstance(error, app_commands.CheckFailure):
        return "You can't use that here. Nothing was changed."
    return None


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _what(interaction: discord.Interaction) -> str:
    if interaction.command is not None:
        return f"/{interaction.command.qualified_name}"
    if interaction.data is None:
        return "an interaction"
    return str(interaction.data.get("custom_id", "an interaction"))
