"""Imported before simcord: its self-check makes a client, and discord.py warns of what that one lacks.

It has no intents, and no libraries for voice, which the bot never uses either.
"""

from __future__ import annotations

import logging

import discord


def _not_the_probe(record: logging.LogRecord) -> bool:
    return "Guilds intent seems to be disabled" not in record.getMessage()


logging.getLogger("discord.state").addFilter(_not_the_probe)
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
