"""The tables of a start that gives every word a topic: one per topic in each document."""

from franchise._jit import helper


@helper
def take_table(state, first, k, table, n_tables):
    """Return the table of the document at `first` for topic k.

    `table` holds the last table that each topic was given, which may be another document's.
    """
    t = table[k]
    # A table number left over from another document does not serve this topic here.
    if t < 0 or t >= n_tables or state.k_jt[first + t] != k:
        t = n_tables
        table[k] = t
        state.k_jt[first + t] = k
    return t
