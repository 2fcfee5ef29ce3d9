"""What admins set up, and time: characters come and go, and who may write what at once changes."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import rule

from memory.types import SubjectKind
from tests.stateful.cast import ARIA, MARA, SQUARE
from tests.stateful.checks import Kind
from tests.stateful.world import SWITCHES, World


class Settings(World):
    """The character, the switches, and days that pass."""

    @rule(what=st.sampled_from(("aria", "aria and the server's", *SWITCHES, "days", "a week")))
    def meanwhile(self, what: str) -> None:
        self.tick()
        if what in SWITCHES:
            self.switch(what)
        elif what == "days":
            self.clock.move(days=3)
        elif what == "a week":
            self.clock.move(days=7, seconds=1)
        elif self.aria:
            self._leave(delete_server=what != "aria")
        else:
            self.aria = self.run(self._create())

    def _leave(self, *, delete_server: bool) -> None:
        """Aria is deleted: what she remembered is for all personas now, or of the server and deleted."""
        self.run(self.engine.delete_persona(MARA, SQUARE, self.aria, delete_server))
        self.aria = 0
        old = self.settle(Kind.LEAVING, MARA, SQUARE)
        said = {(m.scope.kind, m.scope.subject_id, m.text) for m in old.memories.values()}
        lost = said - {(m.scope.kind, m.scope.subject_id, m.text) for m in self.now.memories.values()}
        assert not lost or (delete_server and all(kind is SubjectKind.SERVER for kind, _, _ in lost))
        assert not [m for m in self.now.memories.values() if m.scope.lineage == ARIA]
