"""How documents are read from files, and which of these options apply to which format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from franchise.corpus.files import StrPath, checked_encoding
from franchise.corpus.formats import FORMATS, known_format
from franchise.corpus.formats.delimited import checked_delimiter
from franchise.corpus.text_options import TextOptions
from franchise.errors import SettingsError

_NOTHING = (TextOptions(), ())  # have no effect
FROM_TEXTS = "the vocabulary comes from the texts"
TABLES = ("csv", "tsv", "parquet")  # of texts or of counts
_TRANSPOSABLE = (*TABLES, "ldac", "uci", "mm", "npz")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How documents are read from a file.

    Parameters
    ----------
    format
        One of :data:`~franchise.corpus.FORMATS`. By default known from the end of the name, or else from how
        the file starts.
    text_column
        Which column, or key of JSON lines (``"doc.body"`` within another), holds the texts; needed for tables
        of texts. In Parquet it may have lists of words, or of term ids, which are taken as they are.
    counts
        Whether a table (CSV, TSV or Parquet) holds counts, with a column for each term. By default it does if
        no column of texts is given, and all columns but the first are whole numbers.
    transpose
        Whether the rows of a table or matrix of counts are terms, and its columns documents.
    id_column
        Which column holds the names of the documents; by default they are named ``"0"``, ``"1"``, and so on.
        A table of counts has names in its first column, if that is not of counts. For formats without names,
        a column of `metadata_file`.
    metadata
        Which other columns to keep with the documents, ``[]`` for none. By default all that are small: no
        value of more than 200 characters, no more than 10 million in all, and no more than 50 columns. In a
        table of counts, all columns of texts.
    metadata_file
        A table (CSV, TSV or Parquet) of more columns. Its rows are found by the names of the documents, which
        one column must have; for formats without names, rows are in the order of the documents.
    vocabulary
        For counts, the terms: a file with one per line, or the terms themselves. By default
        ``docs.vocab.txt`` beside ``docs.ldac``, ``vocab.X.txt`` beside ``docword.X.txt``; without a file,
        terms are named ``"0"``, ``"1"``, and so on.
    text_options
        For texts, how they become words; by default as ``TextOptions()`` says.
    keep_texts
        Keep the texts in the corpus, to show them beside topics; a number keeps them only if they have no
        more characters than that in all. Otherwise only their words are kept.
    encoding
        Of texts, and of the file of terms, where it is not UTF-8.
    delimiter
        What separates the fields of a table: one character, or ``"tab"``; by default a comma in CSV.
    layer
        Which layer of an AnnData file holds the counts; by default they are in its X.

    Raises
    ------
    SettingsError
        If there is no such format, encoding or delimiter, or options contradict each other.
    """

    format: str | None = None
    text_column: str | None = None
    counts: bool = False
    transpose: bool = False
    id_column: str | None = None
    metadata: Sequence[str] | None = None
    metadata_file: StrPath | None = None
    vocabulary: StrPath | Sequence[str] | None = None
    text_options: TextOptions | None = None
    keep_texts: bool | int = True
    encoding: str | None = None
    delimiter: str | None = None
    layer: str | None = None

    def __post_init__(self) -> None:
        if self.format is not None:
            known_format(self.format)
        names = self.metadata
        if isinstance(names, str) or not all(isinstance(name, str) for name in names or ()):
            raise SettingsError(
                f"metadata={names!r}: give a list of names of columns, [] for none", code="wrong-type"
            )
        object.__setattr__(self, "metadata", None if names is None else tuple(dict.fromkeys(names)))
        if self.text_column is not None and (self.counts or self.transpose):
            raise SettingsError(
                f"text_column={self.text_column!r}: a table of counts has no texts; leave it out, or counts "
                "and transpose",
                code="conflicting-settings",
            )
        if self.transpose and self.metadata and self.metadata_file is None:
            raise SettingsError(
                f"metadata={list(self.metadata)}: the columns of a transposed table are documents; give the "
                "file that has these columns as metadata_file",
                code="conflicting-settings",
            )
        if self.metadata_file is not None and self.metadata == ():
            raise SettingsError(
                f"metadata_file={str(self.metadata_file)!r}: no metadata are kept, so it has no effect; "
                "leave it out",
                code="conflicting-settings",
            )
        object.__setattr__(self, "encoding", checked_encoding(self.encoding))
        object.__setattr__(self, "delimiter", checked_delimiter(self.delimiter))


# ---------------------------------------------------------------- options that do not apply

USELESS_FOR_SHARDS = dict.fromkeys(
    (field.name for field in fields(ReadOptions) if field.name != "keep_texts"),
    "it holds words with their terms and names",
)
USELESS_FOR_COUNT_TABLES = {
    "vocabulary": "the names of its columns, or rows, are the terms",
    "text_options": "it holds counts",
    "layer": "it has no layers",
}


def useless(form: str, metadata_file: StrPath | None) -> dict[str, str]:
    """Return the options that have no effect on a format, and why."""
    facts = FORMATS[form]
    why: dict[str, str] = {}
    if not facts.has_columns:
        why["text_column"] = "it has no columns"
        if metadata_file is None:
            why["id_column"] = "it has no columns"
        if metadata_file is None and form not in ("h5ad", "mallet"):  # which have obs, and labels
            why["metadata"] = "it has no columns without a file of metadata"
    if form not in TABLES:
        why["counts"] = "it is not a table"
    if form not in _TRANSPOSABLE:
        why["transpose"] = "its rows are documents"
    if facts.counts is not None:
        why["text_options"] = f"it holds {'words' if form == 'franchise' else 'counts'}"
    elif form != "parquet":
        why["vocabulary"] = "its columns name the terms, or texts do" if form in TABLES else FROM_TEXTS
    if form in ("parquet", "h5ad", "franchise") and metadata_file is None:
        why["encoding"] = "it is always UTF-8"
    if form not in ("csv", "tsv"):
        why["delimiter"] = "it has no delimiter"
    if form != "h5ad":
        why["layer"] = "it has no layers"
    return why


def check_apply(what: str, options: ReadOptions, useless: dict[str, str]) -> None:
    """Refuse options that would have no effect."""
    for name, reason in useless.items():
        value = getattr(options, name)
        if value in (None, False) or (isinstance(value, tuple | TextOptions) and value in _NOTHING):
            continue
        raise SettingsError(f"{name} does not apply to {what}: {reason}; leave it out", code="does-not-apply")
