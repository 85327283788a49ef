"""
Topics over time
================

How large is a topic in each month, and is its rise more than chance? 1,280 abstracts, 80 of each month.
"""

from franchise import HDPTopicModel
from franchise.datasets import arxiv_months

papers = arxiv_months()
model = HDPTopicModel(eta=0.3, sweeps=50, chains=2, random_state=1, verbose=0)
model.fit(papers["words"], metadata=papers[["month", "category"]])

agents = int(model.find_topics("agents")["topic"][0])
diffusion = int(model.find_topics("diffusion")["topic"][0])
model = model.set_topic_labels({agents: "agents", diffusion: "images by diffusion"})

# %%
# Lines are shares of the words, and bands the central 95% over the draws of the chains and over resampled
# documents.

fig = model.plot_prevalence("month", topics=["agents", "images by diffusion"])

# %%
# The same by category, for those with enough abstracts.

counts = papers["category"].value_counts()
own = [category if counts[category] >= 40 else None for category in papers["category"]]
fig = model.plot_prevalence(own, topics=["agents"], name="category")

# %%
# The numbers, by quarter.

model.prevalence(by="month", step="quarter", topics="agents").round(3)
