"""The engine: everything Keepsake does, without Discord. Its public face is :class:`memory.engine.Engine`."""
