"""
Comparing models
================

Which eta predicts new documents best? All models score the same words of the same documents, so differences
are taken document by document.
"""

import warnings

import matplotlib.pyplot as plt

from franchise import HDPTopicModel, compare
from franchise.datasets import arxiv_abstracts

warnings.filterwarnings("ignore", message="there are .* topics for .* documents")  # with the smallest eta
abstracts = arxiv_abstracts()
texts, new = abstracts[:400], abstracts[400:600]
models = {
    f"eta = {eta}": HDPTopicModel(eta=eta, sweeps=50, chains=2, random_state=0, verbose=0).fit(texts)
    for eta in (0.1, 0.3, 1.0)
}
comparison = compare(models, new)
print(comparison)

# %%
# Scores alone have large errors, as documents differ from each other far more than models do. Differences
# from the best have small ones.

table = comparison.as_frame().set_index("model").loc[list(models)]
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained", sharey=True)
left.errorbar(table["per_word"], table.index, xerr=2 * table["standard_error"], fmt="o", color="#4c78a8")
left.set(xlabel="nats per word, two standard errors")
right.errorbar(-table["behind"], table.index, xerr=2 * table["behind_error"], fmt="o", color="#e45756")
right.axvline(0, color="grey", lw=0.8)
right.set(xlabel="difference from the best, paired")
left.locator_params(axis="x", nbins=4)
right.locator_params(axis="x", nbins=4)
left.invert_yaxis()

# %%
# A model that predicts a little worse with a tenth of the topics may be the one that you want to read.

table[["n_topics", "per_word", "behind", "behind_error"]].round(3)
