"""The bot's message menus ("Apps" on a message), which simcord's page doesn't offer, only its test actors."""

from __future__ import annotations

import secrets
from typing import Any

from simcord.actors import _check_command_access, _dispatch_actor_interaction
from simcord.backend import serializers
from simcord.backend.errors import BackendError, SetupError
from simcord.enums import AppCommandType, InteractionType

from play.seats import Seat
from play.world import World


async def use_menu(world: World, person: str, seat: Seat, page_id: str, message_id: int, name: str) -> str:
    """Run a menu on a message. The answer appears in the page; returns a sentence when there is none."""
    actor: Any = world.actor(person, seat.channel.id)
    backend = world.env.backend
    guild_id = actor.guild.id if hasattr(actor, "guild") else None
    command = backend.find_command(name, guild_id, type=AppCommandType.MESSAGE)
    try:
        message = backend.get_message(seat.channel.id, message_id)
        if command is None or not message.visible_to(actor.id):
            return "That isn't there any more."
        _check_command_access(actor, seat.channel.id, name, command)
        result = await _dispatch_actor_interaction(
            actor,
            InteractionType.APPLICATION_COMMAND,
            seat.channel,
            {
                "id": command["id"],
                "name": name,
                "type": AppCommandType.MESSAGE,
                "target_id": str(message_id),
                "resolved": {
                    "messages": {str(message_id): dict(serializers.message_payload(backend, message))}
                },
            },
        )
    except (SetupError, BackendError) as refused:
        return str(refused)
    if result.modal is not None:
        page = seat._get_page(page_id)
        page.modal, page.modal_handle = result, "m_" + secrets.token_urlsafe(12)
        seat._publish(page, reason="action")
    return "" if result.acknowledged else "The application did not respond."
