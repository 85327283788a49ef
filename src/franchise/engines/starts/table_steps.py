"""EM steps that fit topics to a table of counts, of which some cells may be hidden.

The model is a plain mixture (KL-NMF): the count of document j and term v has the mean r_jv = sum_k w_jk h_kv,
and each topic h_k sums to one. A hidden cell counts as its mean, which is the E step for a cell that is not
seen. Steps are longer than those of EM: its factors are raised to the power 7/4. EM is slow where documents
mix many topics, and powers below 2 converge near an optimum. This power needs only square roots, which every
machine rounds in the same way.

No random number is drawn. Loops run along rows in a fixed order, so the compiler can vectorize them, and
results do not depend on threads or BLAS.
"""

import math

from franchise._jit import helper, kernel

# Smaller numbers are set to zero: processors are many times slower below the normal range.
_NOTHING = 1e-60
_LEAST_MEAN = 1e-3  # words; below it a mean says nothing


@helper
def _times(value, factor):
    """Return a value times a factor to the power 7/4."""
    root = math.sqrt(factor)
    product = value * (factor * root * math.sqrt(root))
    return product if product > _NOTHING else 0.0


@helper
def _dot(one, other):
    # Four sums side by side: with one, every addition would wait for the one before it.
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = one.size // 4 * 4
    for v in range(0, whole, 4):
        a += one[v] * other[v]
        b += one[v + 1] * other[v + 1]
        c += one[v + 2] * other[v + 2]
        d += one[v + 3] * other[v + 3]
    for v in range(whole, one.size):
        a += one[v] * other[v]
    return (a + b) + (c + d)


@helper
def set_means(w, h, means):
    """Set the means of the counts of one document, whose mixture is w."""
    means[:] = 0.0
    for k in range(w.size):
        weight, row = w[k], h[k]
        if weight > 0.0:
            for v in range(means.size):
                means[v] += weight * row[v]


@helper
def _set_ratios(x, seen, w, h, ratios):
    """Set the ratios of one document's counts to their means; 1 where a cell is hidden."""
    set_means(w, h, ratios)
    for v in range(ratios.size):
        if not seen[v]:
            ratios[v] = 1.0
        elif x[v] > 0.0:
            ratios[v] = x[v] / max(ratios[v], 1e-300)
        else:
            ratios[v] = 0.0


@kernel
def fit_step(x, seen, w, h, new_h, ratios):
    """Make one step for the mixtures w (document, topic) and the topics h (topic, term).

    `x` and `seen` are documents by terms; `new_h` (topic, term) and `ratios` (term) are working memory.
    A topic that has lost all words is unchanged.
    """
    n_terms = ratios.size
    new_h[:, :] = 0.0
    for j in range(x.shape[0]):
        _set_ratios(x[j], seen[j], w[j], h, ratios)
        for k in range(h.shape[0]):
            weight, new_row = w[j, k], new_h[k]
            if weight > 0.0:
                for v in range(n_terms):
                    new_row[v] += weight * ratios[v]
                w[j, k] = _times(weight, _dot(h[k], ratios))
    for k in range(h.shape[0]):
        expected = _dot(h[k], new_h[k])
        if expected > 0.0:
            total = 0.0
            for v in range(n_terms):
                new_h[k, v] = _times(h[k, v], new_h[k, v] / expected)
                total += new_h[k, v]
            for v in range(n_terms):
                h[k, v] = new_h[k, v] / total


@kernel
def mixture_step(x, seen, w, h, ratios):
    """Make one step for the mixtures w alone."""
    for j in range(x.shape[0]):
        _set_ratios(x[j], seen[j], w[j], h, ratios)
        for k in range(h.shape[0]):
            if w[j, k] > 0.0:
                w[j, k] = _times(w[j, k], _dot(h[k], ratios))


@kernel
def score_cells(x, seen, w, h, background, means, hidden):
    """Set the score of each document's hidden cells; return the log likelihood of the seen cells.

    The hidden cells are scored as a multinomial sample of their total, the seen ones as Poisson counts, both
    without the factorials. `background`, of each term, is added to the mean of a document for each of its
    words, because a document may lack a topic, or a topic a term, altogether.
    """
    likelihood = 0.0
    for j in range(x.shape[0]):
        set_means(w[j], h, means)
        n_words = 0.0
        for k in range(h.shape[0]):
            n_words += w[j, k]
        score, n_hidden, total = 0.0, 0.0, 0.0
        for v in range(means.size):
            mean = means[v] + n_words * background[v]
            if not seen[j, v]:
                total += mean
                if x[j, v] > 0.0:
                    n_hidden += x[j, v]
                    score += x[j, v] * math.log(mean)
            else:
                likelihood -= mean
                if x[j, v] > 0.0:
                    likelihood += x[j, v] * math.log(mean)
        hidden[j] = score - n_hidden * math.log(total) if n_hidden > 0.0 else 0.0
    return likelihood


@kernel
def set_all_means(w, h, means):
    """Set the means of all counts (document, term)."""
    for j in range(w.shape[0]):
        set_means(w[j], h, means[j])


@kernel
def leave_documents(seen, w, h, means, least):
    """Let topics leave the documents in which they explain little; `means` (term) is working memory.

    Without topic k, the mean r_v of a document's term v is too small by w_k h_kv. The sum over seen terms of
    (w_k h_kv)^2 / r_v is about twice what the log likelihood loses. If it is below `least`, w_k becomes 0,
    unless k is the document's largest topic.
    """
    for j in range(w.shape[0]):
        set_means(w[j], h, means)
        largest = 0
        for k in range(h.shape[0]):
            if w[j, k] > w[j, largest]:
                largest = k
        for k in range(h.shape[0]):
            weight, explained = w[j, k], 0.0
            if weight > 0.0 and k != largest:
                for v in range(means.size):
                    if seen[j, v]:
                        explained += (weight * h[k, v]) ** 2 / max(means[v], _LEAST_MEAN)
                if explained < least:
                    w[j, k] = 0.0


@kernel
def set_likeness(rows, chosen, likeness):
    """Set the dot products of the chosen rows with all rows."""
    for i in range(chosen.size):
        for j in range(rows.shape[0]):
            likeness[i, j] = _dot(rows[chosen[i]], rows[j])


@kernel
def set_growth(seen, w, h, means, least, growth, active, factor, column):
    """Set the factors by which the squared residuals of hidden cells grow because mixtures are estimated.

    Topics with more than `least[j]` words in document j count as estimated. Their information is
    I = sum over seen v of h_v h_v' / r_v, and a hidden cell's residual has 1 + h_v' I^-1 h_v / r_v times its
    variance around the true mean. `active`, `column` (topic) and `factor` (topic, topic) are working memory;
    `factor` holds the Cholesky factor of I.
    """
    for j in range(w.shape[0]):
        n = 0
        for k in range(h.shape[0]):
            if w[j, k] > least[j]:
                active[n] = k
                n += 1
        for a in range(n):
            for b in range(a + 1):
                total = 1e-12
                for v in range(h.shape[1]):
                    if seen[j, v] and means[j, v] > 0.0:
                        total += h[active[a], v] * h[active[b], v] / means[j, v]
                for c in range(b):
                    total -= factor[a, c] * factor[b, c]
                factor[a, b] = math.sqrt(max(total, 1e-12)) if a == b else total / factor[b, b]
        for v in range(h.shape[1]):
            growth[j, v] = 1.0
            if not seen[j, v] and means[j, v] > 0.0:
                for a in range(n):
                    total = h[active[a], v]
                    for c in range(a):
                        total -= factor[a, c] * column[c]
                    column[a] = total / factor[a, a]
                    growth[j, v] += column[a] * column[a] / means[j, v]
