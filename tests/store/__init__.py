"""Tests of the database's door."""
