"""What to cite, as text and as entries of BibTeX.

`CITATION.cff` has the same entries for programs that read it; a test compares them.
"""

from __future__ import annotations

from typing import NamedTuple

from franchise import __version__


class Reference(NamedTuple):
    """A work to cite.

    Attributes
    ----------
    key
        Its key for BibTeX.
    short
        The citation in a sentence.
    kind
        The kind of entry: misc, article or software.
    fields
        The fields of the entry.
    """

    key: str
    short: str
    kind: str
    fields: dict[str, str]

    def as_text(self) -> str:
        """Return it as a line of a list of references."""
        of = self.fields
        year = f" ({of['year']})" if "year" in of else ""
        rest = [of[name] for name in ("journal", "howpublished", "note") if name in of]
        if "volume" in of:
            rest[0] += f" {of['volume']}({of['number']}), {of['pages'].replace('--', '–')}"
        if "doi" in of:
            rest.append(f"doi:{of['doi']}")
        authors = of["author"].strip("{}").replace(" and ", "; ")
        return f"{authors}{year}. {of['title'].replace('{', '').replace('}', '')}. {'. '.join(rest)}."

    def as_bibtex(self) -> str:
        """Return its entry."""
        fields = "".join(f"  {name} = {{{value}}},\n" for name, value in self.fields.items())
        return f"@{self.kind}{{{self.key},\n{fields}}}\n"


TITLE = "Hierarchical Dirichlet process topic models by exact MCMC on the Chinese restaurant franchise"
SPLIT_MERGE = Reference(
    "wang2012splitmerge",
    "Wang and Blei 2012",
    "misc",
    {
        "author": "Wang, Chong and Blei, David M.",
        "title": "A Split-Merge {MCMC} Algorithm for the Hierarchical {Dirichlet} Process",
        "year": "2012",
        "howpublished": "arXiv:1201.1657",
    },
)
HDP = Reference(
    "teh2006hdp",
    "Teh et al. 2006",
    "article",
    {
        "author": "Teh, Yee Whye and Jordan, Michael I. and Beal, Matthew J. and Blei, David M.",
        "title": "Hierarchical {Dirichlet} Processes",
        "journal": "Journal of the American Statistical Association",
        "year": "2006",
        "volume": "101",
        "number": "476",
        "pages": "1566--1581",
        "doi": "10.1198/016214506000000302",
    },
)
R_HAT = Reference(
    "vehtari2021rhat",
    "Vehtari et al. 2021",
    "article",
    {
        "author": "Vehtari, Aki and Gelman, Andrew and Simpson, Daniel and Carpenter, Bob and "
        "Bürkner, Paul-Christian",
        "title": "Rank-Normalization, Folding, and Localization: An Improved {R-hat} for Assessing "
        "Convergence of {MCMC}",
        "journal": "Bayesian Analysis",
        "year": "2021",
        "volume": "16",
        "number": "2",
        "pages": "667--718",
        "doi": "10.1214/20-BA1221",
    },
)


def software(version: str = __version__) -> Reference:
    """Return the entry of this library in a version."""
    fields = {"author": "{The franchise developers}", "title": f"franchise: {TITLE}"}
    fields["note"] = f"Version {version}"
    return Reference("franchise", "The franchise developers", "misc", fields)
