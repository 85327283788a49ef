"""
Starting from seed words
========================

You know some of the topics already? Name them by a few words each. This is a start and not a prior: chains
may leave it, and find other topics beside.
"""

import matplotlib.pyplot as plt

from franchise import HDPTopicModel
from franchise.datasets import arxiv_abstracts

seeds = {
    "cosmology": ["galaxy", "redshift", "galaxies"],
    "algebra": ["algebra", "algebras", "lie"],
    "solids": ["magnetic", "electron", "temperature"],
}
texts = arxiv_abstracts()[:500]
model = HDPTopicModel(init=seeds, eta=0.5, sweeps=150, chains=2, random_state=0, verbose=0).fit(texts)

# %%
# The topics in which the seed words are now, which get the names of the seeds.

numbers = {name: int(model.find_topics(words)["topic"][0]) for name, words in seeds.items()}
model.set_topic_labels({number: name for name, number in numbers.items()})
fig = model.plot_topic_bars(list(numbers.values()))

# %%
# They are some of many. The others were found without being asked for.

first = model.topics().head(14)
colours = ["#e45756" if topic in numbers.values() else "#bab0ac" for topic in first["topic"]]
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.barh(first["label"], first["weight"], color=colours)
ax.invert_yaxis()
ax.set(xlabel="share of the words")

# %%
# Did the seeds matter? ``found_by`` and the diagnosis say what the chains have in common, and that they share
# their start.

print(model)
