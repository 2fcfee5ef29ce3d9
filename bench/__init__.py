"""Measurements: ``python -m bench turn|assembly|prefix|soak|saves``. Each prints one JSON line last."""
