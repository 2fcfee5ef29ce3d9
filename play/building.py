"""Puts the little server of ``scene`` into a simulated Discord, with the same ids at every start."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import discord
from PIL import Image, ImageDraw, ImageFont
from simcord.backend.cdn import CDN_BASE
from simcord.backend.models import Channel, Guild, Member, Message, Overwrite, Role, User
from simcord.backend.ops.guilds import DEFAULT_EVERYONE_PERMISSIONS
from simcord.components import walk_components
from simcord.enums import ChannelType, OverwriteType

from play import scene

if TYPE_CHECKING:
    from play.world import Said

_AVATAR = "a1"
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
_DISCORD_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)


def build(backend: Any) -> None:
    """People, roles, channels and direct messages; no message yet."""
    backend.users.clear()
    backend.application_id = scene.APPLICATION_ID
    backend.bot_user = _user(backend, scene.BOT_ID, scene.BOT_NAME, scene.BOT_COLOR, bot=True)
    guild = Guild(id=scene.GUILD_ID, name=scene.GUILD_NAME, owner_id=_owner().id)
    backend.guilds[guild.id] = guild
    for role in _roles():
        guild.roles[role.id] = role
    guild.members[scene.BOT_ID] = Member(scene.BOT_ID, [scene.BOT_ROLE_ID], joined_at=_BEGAN)
    for person in scene.PEOPLE:
        _user(backend, person.id, person.name, person.color)
        roles = [scene.ADMIN_ROLE_ID] if person.admin else []
        guild.members[person.id] = Member(person.id, roles, joined_at=_BEGAN)
        direct = Channel(id=person.dm_id, type=ChannelType.DM, recipient_ids=[person.id])
        _add(backend, direct)
        backend.dm_channels[person.id] = direct.id
    for position, room in enumerate(scene.ROOMS):
        _add(
            backend,
            Channel(
                id=room.id,
                type=ChannelType.TEXT,
                name=room.key,
                guild_id=guild.id,
                position=position,
                overwrites=_private_to(room),
                topic=room.topic,
            ),
        )
        guild.channel_ids.append(room.id)


def tell_scene(backend: Any, now: datetime) -> None:
    """The lines that stand in #general before anybody plays."""
    room = next(room for room in scene.ROOMS if room.key == "general")
    people = {person.key: person for person in scene.PEOPLE}
    for (who, text), at in zip(scene.SCENE, scene.scene_times(now), strict=True):
        milliseconds = int((at - _DISCORD_EPOCH).total_seconds() * 1000)
        message = Message(
            id=backend._allocate_at(milliseconds),
            channel_id=room.id,
            author_id=people[who].id,
            content=text,
            timestamp=at.isoformat(),
        )
        backend.messages[room.id][message.id] = message
        backend.channels[room.id].last_message_id = message.id


def said(backend: Any, message: Any) -> Said:
    """A stored message as a person sees it."""
    from play.world import Said

    author = message.author_name or backend.get_user(message.author_id).name
    parts = [str(item["content"]) for item in walk_components(message.components) if item.get("type") == 10]
    embeds = tuple(_embed_text(embed) for embed in message.embeds)
    buttons = tuple(
        str(item.get("label") or "") for item in walk_components(message.components) if item.get("type") == 2
    )
    text = "\n".join([message.content, *parts]).strip("\n")
    return Said(message.id, author, text, embeds, buttons, message.is_ephemeral)


def _embed_text(embed: Any) -> str:
    fields = [f"{field['name']}: {field['value']}" for field in embed.get("fields") or []]
    footer = (embed.get("footer") or {}).get("text", "")
    return "\n".join(filter(None, [embed.get("title"), embed.get("description"), *fields, footer]))


def _owner() -> scene.Persona:
    return next(person for person in scene.PEOPLE if person.admin)


def _add(backend: Any, channel: Any) -> None:
    backend.channels[channel.id] = channel
    backend.messages[channel.id] = {}


def _roles() -> list[Any]:
    bot = discord.Permissions.all()
    bot.administrator = False  # as after a usual invitation: channel overwrites apply to the bot
    admin = discord.Permissions(DEFAULT_EVERYONE_PERMISSIONS)
    admin.update(
        manage_guild=True, manage_channels=True, manage_messages=True, manage_threads=True, manage_roles=True
    )
    return [
        Role(id=scene.GUILD_ID, name="@everyone", permissions=DEFAULT_EVERYONE_PERMISSIONS),
        Role(id=scene.BOT_ROLE_ID, name=scene.BOT_NAME, permissions=bot.value, position=1, managed=True),
        Role(
            id=scene.ADMIN_ROLE_ID,
            name="Innkeeper",
            permissions=admin.value,
            position=2,
            color=_owner().color,
        ),
    ]


def _private_to(room: scene.Room) -> list[Any]:
    if not room.members:
        return []
    view = discord.Permissions(view_channel=True).value
    allowed = [person.id for person in scene.PEOPLE if person.key in room.members]
    return [
        Overwrite(target_id=scene.GUILD_ID, type=OverwriteType.ROLE, deny=view),
        *(
            Overwrite(target_id=who, type=OverwriteType.MEMBER, allow=view)
            for who in (*allowed, scene.BOT_ID)
        ),
    ]


def _user(backend: Any, user_id: int, name: str, color: int, *, bot: bool = False) -> Any:
    user = User(id=user_id, name=name if bot else name.lower(), bot=bot, global_name=name, avatar=_AVATAR)
    backend.users[user_id] = user
    url = f"{CDN_BASE}/avatars/{user_id}/{_AVATAR}.png"
    backend.cdn._blobs[url] = _avatar(name[0], color)
    return user


def _avatar(letter: str, color: int) -> bytes:
    """A coloured square with an initial; Discord (and the page) cuts it round."""
    image = Image.new("RGB", (128, 128), (color >> 16, color >> 8 & 255, color & 255))
    draw = ImageDraw.Draw(image)
    draw.text((64, 64), letter, font=ImageFont.load_default(72), anchor="mm", fill=(32, 28, 36))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
