"""The tables of a start that gives every word a topic: one per topic in each document."""

from franchise._jit import helper


@helper
def take_table(state, first, draw, number, table, n_tables, used):
    """Return the table of the document at `first` for a topic drawn, and how many topics are in use.

    `number` holds the number in the state of each topic that can be drawn, -1 before its first word;
    `table` the last table that it was given, which may be another document's.
    """
    if number[draw] < 0:
        number[draw] = used
        used += 1
    t = table[draw]
    # A table number left over from another document does not serve this topic here.
    if t < 0 or t >= n_tables or state.k_jt[first + t] != number[draw]:
        t = n_tables
        table[draw] = t
        state.k_jt[first + t] = number[draw]
    return t, used
