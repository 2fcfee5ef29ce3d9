"""Imported before simcord: its self-check makes a client without intents, which discord.py warns about."""

from __future__ import annotations

import logging


def _not_the_probe(record: logging.LogRecord) -> bool:
    return "Guilds intent seems to be disabled" not in record.getMessage()


logging.getLogger("discord.state").addFilter(_not_the_probe)
