"""Cumulated weights to sample from, and the list of a document's topics: shared by the moves."""

from franchise._jit import helper, inlined


@inlined
def add_four(weight, e, total, w0, w1, w2, w3):
    """Put the cumulated sums of four weights in weight[e], ..., after a total so far; return the new total.

    With four at a time, not every addition waits for the one before it.
    """
    two = w0 + w1
    weight[e] = total + w0
    weight[e + 1] = total + two
    weight[e + 2] = total + (two + w2)
    total += two + (w2 + w3)
    weight[e + 3] = total
    return total


@inlined
def cumulate(row_k, row_n, p_k, weight):
    """Cumulate the weights row_n p_k of a term's topics; return their sum."""
    total = 0.0
    length = row_k.size
    e = 0
    while e + 4 <= length:
        w0, w1 = row_n[e] * p_k[row_k[e]], row_n[e + 1] * p_k[row_k[e + 1]]
        w2, w3 = row_n[e + 2] * p_k[row_k[e + 2]], row_n[e + 3] * p_k[row_k[e + 3]]
        total = add_four(weight, e, total, w0, w1, w2, w3)
        e += 4
    while e < length:
        total += row_n[e] * p_k[row_k[e]]
        weight[e] = total
        e += 1
    return total


@helper
def list_here(scratch, k, n_here):
    """List topic k as one of the document's topics, unless it is listed.

    A topic that the document has left stays listed, with weight 0, until the document is done.
    """
    place = scratch.here_place[k]
    if place < n_here and scratch.here[place] == k:
        return n_here
    scratch.here[n_here] = k
    scratch.here_place[k] = n_here
    return n_here + 1
