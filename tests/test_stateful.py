"""Memories stay whole in any order of what people, the model and crashes do (SPEC §4, §12).

Caps hold; the model never changes a pin, another persona's entry or what is not its to write; what it
suggests is stored when somebody with the right approved it, and decided once; tags are what the journal says;
rollback restores exactly the earlier state; nobody reads what is somebody else's, and no server what is for
DMs only.

The machine keeps no copy of the rules but those of who may read and write. It compares the database with
itself: before a step, after it, and with what its journal says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, run_state_machine_as_test

from tests.stateful.cast import MARA, channels, keywords, lineages, text, who
from tests.stateful.going_back import GoingBack
from tests.stateful.looking import Looking
from tests.stateful.settings import Settings
from tests.stateful.suggesting import Suggesting
from tests.stateful.world import Ground, ground


class Keeping(Suggesting, GoingBack, Settings, Looking):
    """One server with a channel and two characters; Ana, Ben and Mara, who manages it; two DMs."""

    @initialize(
        entries=st.lists(
            st.tuples(who, st.booleans(), lineages, text, st.booleans(), keywords, channels), max_size=6
        ),
        switched=st.sampled_from(
            ((), ("member_access",), ("autosave",), ("persona_memories", "member_access"))
        ),
    )
    def begin(self, entries: Sequence[tuple], switched: Sequence[str]) -> None:
        self.set_up()
        for what in switched:
            self.switch(what)
        for person, server, *entry in entries:
            self.seed(MARA if server else person, server, *entry)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("stateful")) as made:
        yield made


@pytest.mark.timeout(600)
def test_whatever_people_the_model_and_crashes_do_memories_stay_whole(shared: Ground) -> None:
    machine = type("Machine", (Keeping,), {"ground": shared})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60,
            stateful_step_count=30,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
