"""Which tagged entries a conversation calls up (SPEC §7). Serves memories now; lore and documents later."""
