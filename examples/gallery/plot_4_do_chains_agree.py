"""
Do the chains agree?
====================

Four chains are four runs. Here they start far apart, from one topic, from words seated one by one, and from
50 and 200 random topics, so that what they have in common does not come from the start.
"""

import matplotlib.pyplot as plt

from franchise import HDPTopicModel
from franchise.datasets import arxiv_abstracts

abstracts = arxiv_abstracts()
texts, new = abstracts[:400], abstracts[400:500]
model = HDPTopicModel(eta=0.5, sweeps=200, chains=4, init="apart", random_state=0, verbose=0).fit(texts)
fig = model.plot_trace("n_topics")

# %%
# The number of topics comes together. The log probability of the words shows it more sharply.

fig = model.plot_trace("log_p_words")

# %%
# In plain words, with what to do about it:

for message in model.diagnose().messages:
    print(message)

# %%
# Topics that every chain has are the ones to rely on. How much of the words do they hold?

share = model.topics().groupby("found_by")["weight"].sum()
share = share.reindex(["every chain", "most chains", "few chains", "one chain"], fill_value=0.0)
fig, ax = plt.subplots(figsize=(6, 1.8), layout="constrained")
share.iloc[::-1].plot.barh(ax=ax, color="#4c78a8")
ax.set(xlabel="share of the words", ylabel="topic found by", xlim=(0, 1))

# %%
# Where chains differ, documents that were not fitted say which predict better, and with what weights they
# predict best together.

model.chain_weights(new).round(3)
