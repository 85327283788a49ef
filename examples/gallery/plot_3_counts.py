"""
Counts that are not words
=========================

Tumours of mutations, cells of transcripts, baskets of goods: any table of counts has topics. Here four
signatures over 96 classes are planted in 150 tumours, and looked for.
"""

import matplotlib.pyplot as plt
import numpy as np

from franchise import HDPTopicModel, from_counts

rng = np.random.default_rng(1)
signatures = rng.dirichlet(np.full(96, 0.2), 4)
exposures = rng.gamma(0.5, 1000, (150, 4))
corpus = from_counts(rng.poisson(exposures @ signatures), vocabulary=[f"class {v}" for v in range(96)])
print(corpus)

# %%
# Counts in the thousands make copies of topics, so each tumour keeps 300 of its mutations, drawn without
# replacement.

fewer = corpus.downsampled(300, random_state=0)
model = HDPTopicModel(eta=0.5, sweeps=400, burn_in=300, chains=2, random_state=0, verbose=0)
print(model.fit(fewer))

# %%
# How similar is each planted signature to each topic that was found?


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


similarity = unit(signatures) @ unit(model.components_[:8]).T

fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
image = ax.imshow(similarity, vmin=0, vmax=1, cmap="Blues", aspect="auto")
ax.set(
    xlabel="topic, largest first",
    ylabel="planted signature",
    yticks=range(4),
    xticks=range(similarity.shape[1]),
)
for (row, column), value in np.ndenumerate(similarity):
    colour = "white" if value > 0.6 else "black"
    ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, size=8)
fig.colorbar(image, label="cosine similarity")

# %%
# The first signature beside the topic that is most like it, with the interval of each class.

topic = int(similarity[0].argmax())
low, high = model.posterior_.phi_interval(topic, range(96)).T
fig, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
ax.bar(range(96), model.components_[topic], color="#9ecae1", label=f"topic {topic}")
ax.vlines(range(96), low, high, color="#08519c", lw=1, label="central 95%")
ax.plot(range(96), signatures[0], ".", color="black", ms=4, label="planted")
ax.set(xlabel="class of mutation", ylabel="probability", xlim=(-1, 96))
ax.legend(frameon=False)
