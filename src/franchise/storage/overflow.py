"""Where the large draws of a run without a folder go: into temporary files, which nobody has to remove."""

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from franchise.errors import ModelError
from franchise.sampling import Draw
from franchise.sampling.chain import Chain
from franchise.storage.draws import is_large, read_draw, write_draw


class Overflow:
    """Keeps the large draws of chains on disk, and nothing else (`sampling.run.Keeper`).

    A file is removed as soon as it is mapped. What it held is there for as long as someone has the draw, and
    is gone with the process, however that ends. Where there is no room on disk, draws stay in memory.
    Draws in parts lie on disk already.
    """

    def keeping(self, chains: Sequence[Chain]) -> AbstractContextManager[None]:
        """Do nothing: others cannot get in the way."""
        return nullcontext()

    def save_runs(self, chain: Chain) -> None:
        """Keep nothing: they are small."""

    def save(self, chain: Chain, *, now: bool) -> None:
        """Put a large draw on disk that the chain has just kept."""
        for draw in chain.draws[-1:]:
            if draw.sweep == chain.sweeps_done and is_large(draw) and not draw.is_in_parts:
                with suppress(ModelError, OSError):
                    chain.exchange(draw, _on_disk(draw, chain))


def _on_disk(draw: Draw, chain: Chain) -> Draw:
    with tempfile.TemporaryDirectory(prefix="franchise-", ignore_cleanup_errors=True) as folder:
        write_draw(Path(folder), draw)
        return read_draw(Path(folder), draw.sweep, chain.corpus)
