"""Every peer by its name, in the order of the tables."""

from benchmarks.peers.interface import Peer
from benchmarks.peers.own import Franchise, FranchiseAveraged
from benchmarks.peers.packages import Gensim, ScikitLearnLDA, Tomotopy
from benchmarks.peers.programs import HCA, BleiHDP, HDPFaster

OURS = "franchise"
_ALL: list[Peer] = [
    Franchise(),
    FranchiseAveraged(),
    Tomotopy(),
    Gensim(),
    *(ScikitLearnLDA(n_topics) for n_topics in (50, 100, 200)),
    BleiHDP(),
    BleiHDP(split_merge=True),
    HDPFaster(),
    HCA(),
]
PEERS: dict[str, Peer] = {peer.name: peer for peer in _ALL}
SMOKE = ("franchise", "scikit-learn LDA 10")


def peer_named(name: str) -> Peer:
    """Return a peer; scikit-learn's LDA has any number of topics."""
    kind, _, number = name.rpartition(" ")
    if name not in PEERS and kind == "scikit-learn LDA" and number.isdigit() and int(number):
        return ScikitLearnLDA(int(number))
    return PEERS[name]
