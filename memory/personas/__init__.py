"""Personas: characters of a server, whom a message calls, and through which webhooks they speak."""
