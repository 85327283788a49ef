"""Data for figures, and what can be seen in one."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from franchise.sampling import Trial


def traces(n_chains, n_sweeps=30, start=5, seed=1):
    rng = np.random.default_rng(seed)
    walks = start + np.abs(np.cumsum(rng.integers(-1, 2, (n_chains, n_sweeps)), axis=1))
    return [{"sweep": np.arange(n_sweeps), "n_topics": walk} for walk in walks]


def topics(n_topics, n_terms, seed=1):
    return np.random.default_rng(seed).dirichlet(np.full(n_terms, 0.05), n_topics)


def terms(n):
    return [f"term{v}" for v in range(n)]


def trials(n, seed=1, largest=1000):
    rng = np.random.default_rng(seed)
    words = np.exp(rng.uniform(0, np.log(largest), n)).astype(int)
    kinds = rng.choice(["split", "merge", "none"], n)
    return [
        Trial(1, 0, kind, bool(accepted), 0.0, 0, 1, max(1, w // 3), w, 0)
        for kind, accepted, w in zip(kinds.tolist(), rng.random(n) < 0.1, words.tolist(), strict=True)
    ]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def data_lines(ax):
    return [line.get_xydata() for line in ax.get_lines()]


def seen_texts(figure):
    """All texts that are drawn, with their places; ticks out of view are not drawn."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    hidden = set()
    for ax, name in itertools.product(figure.axes, ("xaxis", "yaxis")):
        axis = getattr(ax, name)
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            slack = 1e-9 * (high - low)
            if not low - slack <= tick.get_loc() <= high + slack:
                hidden |= {tick.label1, tick.label2}
    texts = figure.findobj(lambda one: isinstance(one, Text) and one.get_visible() and one.get_text().strip())
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts if text not in hidden]


def prevalence_table(groups, n_topics=3):
    """Return what `prevalence` would, with shares that mean nothing."""
    rng = np.random.default_rng(0)
    rows = []
    for topic in range(n_topics):
        for i, one in enumerate(groups):
            share = rng.random() / n_topics
            rows.append((one, topic, "ant, bee, cow, dog", share, 0.8 * share, 1.3 * share, i + 1))
    return pd.DataFrame(rows, columns=["group", "topic", "terms", "share", "low", "high", "n_documents"])
