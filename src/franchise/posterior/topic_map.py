"""What became of the topics of an earlier model: which topic of the present one each of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy.typing as npt

from franchise._text import counted
from franchise.posterior.coherence import top_terms
from franchise.posterior.labels import Named, matches

if TYPE_CHECKING:
    import pandas as pd

_NAMED = 10  # new topics in one line


def topic_map(
    earlier: Sequence[Named],
    phi: npt.ArrayLike,
    vocabulary: Sequence[str],
    names: Mapping[int, str],
    n_terms: int = 5,
) -> pd.DataFrame:
    """Return a table of the topics of two models, those that are the same in one row.

    Parameters
    ----------
    earlier
        All topics of the earlier model, in the terms of the present one.
    phi
        Term probabilities of the present topics.
    vocabulary
        The terms.
    names
        The names of the present topics.
    n_terms
        How many top terms to show.

    Returns
    -------
    pandas.DataFrame
        Columns earlier and topic (their numbers; missing for a topic that was born or died), change
        ("continues", "born" or "died"), similarity (the cosine of their probabilities of terms),
        earlier_name, name, earlier_terms and terms; by topic, those that died last.
    """
    import pandas as pd

    found = matches(earlier, phi)
    before = {k: (i, similarity) for i, (k, similarity) in found.items()}
    shown = [", ".join(vocabulary[v] for v in row) for row in top_terms(phi, n_terms)]
    rows: list[tuple[int | None, int | None, str, float, str, str, str]] = []
    for k, terms in enumerate(shown):
        i, similarity = before.get(k, (None, float("nan")))
        change = "born" if i is None else "continues"
        rows.append((i, k, change, similarity, *_known(earlier, i, vocabulary, n_terms), terms))
    for i in range(len(earlier)):
        if i not in found:
            rows.append((i, None, "died", float("nan"), *_known(earlier, i, vocabulary, n_terms), ""))
    columns = ("earlier", "topic", "change", "similarity", "earlier_name", "earlier_terms", "terms")
    frame = pd.DataFrame(rows, columns=list(columns))
    frame.insert(5, "name", ["" if k is None else names.get(k, "") for _, k, *_ in rows])
    return frame.astype({"earlier": "Int64", "topic": "Int64", "similarity": float})


def _known(earlier: Sequence[Named], i: int | None, vocabulary: Sequence[str], n: int) -> tuple[str, str]:
    """Return the name and the top terms of an earlier topic; nothing for none."""
    if i is None:
        return "", ""
    return earlier[i].name, ", ".join(vocabulary[v] for v in earlier[i].terms[:n])


def in_words(frame: pd.DataFrame) -> str:
    """Say what became of the topics.

    Examples
    --------
    >>> import pandas as pd
    >>> in_words(pd.DataFrame({"change": ["continues", "born", "died"], "topic": [0, 1, None]}))
    '1 earlier topic continues; new: topic 1; gone: 1'
    """
    change = frame["change"].value_counts()
    said = [f"{counted(int(change.get('continues', 0)), 'earlier topic')} continue"]
    if change.get("continues", 0) == 1:
        said[0] += "s"
    if born := frame.loc[frame["change"] == "born", "topic"].astype(int).tolist():
        more = f" and {len(born) - _NAMED} more" if len(born) > _NAMED else ""
        said.append(f"new: topic{'s' * (len(born) > 1)} {', '.join(map(str, born[:_NAMED]))}{more}")
    if died := int(change.get("died", 0)):
        said.append(f"gone: {died}")
    return "; ".join(said)
