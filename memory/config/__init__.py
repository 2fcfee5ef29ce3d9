"""The config room: what servers and channels may set, each setting described once."""

from memory.config.rules import (
    CONFIG_KEYS,
    ConfigKey,
    ConfigRefused,
    ConfigType,
    Level,
    PlaceConfig,
    Setting,
)
from memory.config.service import Config

__all__ = [
    "CONFIG_KEYS",
    "Config",
    "ConfigKey",
    "ConfigRefused",
    "ConfigType",
    "Level",
    "PlaceConfig",
    "Setting",
]
