"""The live window: the raw recent messages of a channel, word for word (SPEC §2)."""
