"""
First topics
============

Texts in, topics out: what 500 abstracts are about, how many topics there are, and how sure that is.
"""

from franchise import HDPTopicModel
from franchise.datasets import arxiv_abstracts

texts = arxiv_abstracts()[:500]
model = HDPTopicModel(eta=0.5, sweeps=150, chains=2, random_state=1, verbose=0).fit(texts)
print(model)

# %%
# The most probable terms of the six largest topics. Whiskers are the central 95%, over the draws of both
# chains.

fig = model.plot_topic_bars()

# %%
# All topics at once: a dot is as large as its term is probable. Topics share common terms and differ in the
# rest.

fig = model.plot_topics(n_terms=30)

# %%
# How probable each number of topics is. It is a result with an interval, and not a setting.

fig = model.plot_n_topics()

# %%
# The table behind the pictures. ``found_by`` says how many chains have a topic: rely on those of every chain.

columns = ["label", "weight", "weight_low", "weight_high", "found_by", "terms"]
model.topics(n_terms=5)[columns].head(8).round(2)
