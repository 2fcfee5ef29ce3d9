"""Markers: the lines of ours that say from where on, or up to where, a channel is used."""

from __future__ import annotations

import discord

from cogs._render import GREY, WAITING, escape


def refresh_embed(name: str, *, dm: bool) -> discord.Embed:
    """The marker of a fresh start."""
    who = "you can undo it with" if dm else "members with Manage Server can undo it with"
    return discord.Embed(
        title="Fresh start",
        description=(
            "I no longer use what was said above this line. Saved memories stay."
            f"\n-# by {escape(name)} · {who} Restore or by deleting this message"
        ),
        colour=WAITING,
    )


def restored_embed(name: str) -> discord.Embed:
    return discord.Embed(
        title="Fresh start undone",
        description=f"I use what was said above this line again.\n-# restored by {escape(name)}",
        colour=GREY,
    )


def rewinding_embed(link: str) -> discord.Embed:
    """A rewind's marker until it is done."""
    return discord.Embed(title="Rewinding", description=f"To [this message]({link}) …", colour=GREY)


def rewound_embed(link: str, name: str) -> discord.Embed:
    """A rewind's marker."""
    return discord.Embed(
        title="Rewound",
        description=(
            f"I no longer use what was said between [this message]({link}) and this line. What I had saved"
            " from it, if anything, was taken back; what people pinned or changed themselves stays."
            f"\n-# by {escape(name)}"
        ),
        colour=WAITING,
    )
