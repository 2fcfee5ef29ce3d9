"""Measurements: ``python -m bench turn|assembly|prefix|soak``. Each prints one JSON line last."""
