"""Strategies: pure functions from blocks and a budget to the blocks to leave out, and why (SPEC §5).

A strategy never removes what is required; the host (``assembly``) owns the final budget.
"""
