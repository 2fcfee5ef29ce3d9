"""The prompt: blocks, budget, strategies, assembly and the ledger that says what went in and why.

All pure: no await, clock, randomness, files or logging; ``now`` and the token counter are arguments. One
builder serves the turn, the preview and the snapshot (SPEC §5).
"""
