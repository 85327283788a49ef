"""Steps of EM that fit starting topics to documents.

The model of the fit is a plain mixture: word i of document j is term v with probability proportional to
common_v + sum_k theta_jk phi_vk (`starting_topics`). The fit draws no random number.
"""

from franchise._jit import helper, kernel
from franchise.engines.starts.starting_topics import set_theta, shares


@helper
def _add_shares(share, weight, expected, row):
    """Add the share of each topic in the words of a term (E step)."""
    for k in range(weight.size):
        part = share * weight[k]
        expected[k] += part
        row[k] += part


@helper
def _set_phi(phi, new_phi, sums):
    """Set the topics to the shares of their terms (M step); a topic that has lost all words is unchanged."""
    sums[:] = 0.0
    for r in range(new_phi.shape[0]):
        for k in range(sums.size):
            sums[k] += new_phi[r, k]
    for r in range(new_phi.shape[0]):
        for k in range(sums.size):
            if sums[k] > 0.0:
                phi[r, k] = new_phi[r, k] / sums[k]


@kernel
def fit_step(cells, topics, theta, new_phi, weight, expected):
    """Make one step of EM for the topics and for the mixtures theta of all documents."""
    phi = topics.phi
    new_phi[:, :] = 0.0
    for j in range(theta.shape[0]):
        expected[:] = 0.0
        for cell in range(cells.cell_ptr[j], cells.cell_ptr[j + 1]):
            v = cells.terms[cell]
            row = topics.row[v]
            share = cells.counts[cell] / shares(theta[j], phi[row], topics.common[v], weight)
            _add_shares(share, weight, expected, new_phi[row])
        set_theta(theta[j], expected)
    _set_phi(phi, new_phi, expected)


@kernel
def fit_listed_step(cells, topics, least, theta, new_value, expected):
    """Make the same step with the listed topics of each term only; then shorten the lists."""
    listed, value = topics.topic, topics.value
    new_value[:] = 0.0
    for j in range(theta.shape[0]):
        expected[:] = 0.0
        for cell in range(cells.cell_ptr[j], cells.cell_ptr[j + 1]):
            v = cells.terms[cell]
            first, last = topics.row_ptr[topics.row[v]], topics.row_ptr[topics.row[v] + 1]
            total = topics.common[v]
            for e in range(first, last):
                total += theta[j, listed[e]] * value[e]
            share = cells.counts[cell] / total
            for e in range(first, last):
                part = share * theta[j, listed[e]] * value[e]
                expected[listed[e]] += part
                new_value[e] += part
        set_theta(theta[j], expected)
    _set_values(topics, new_value, expected)
    _list_fewer(topics, least)


@helper
def _set_values(topics, new_value, sums):
    """Set the topics to the shares of their terms (M step)."""
    sums[:] = 0.0
    for e in range(topics.row_ptr[-1]):
        sums[topics.topic[e]] += new_value[e]
    for e in range(topics.row_ptr[-1]):
        if sums[topics.topic[e]] > 0.0:
            topics.value[e] = new_value[e] / sums[topics.topic[e]]


@helper
def _list_fewer(topics, least):
    """Drop topics with at most this share of the largest entry of their row."""
    row_ptr, kept, begin = topics.row_ptr, 0, 0
    for r in range(row_ptr.size - 1):
        end, largest = row_ptr[r + 1], 0.0
        for e in range(begin, end):
            largest = max(largest, topics.value[e])
        for e in range(begin, end):
            if topics.value[e] > least * largest:
                topics.topic[kept] = topics.topic[e]
                topics.value[kept] = topics.value[e]
                kept += 1
        begin = end
        row_ptr[r + 1] = kept
