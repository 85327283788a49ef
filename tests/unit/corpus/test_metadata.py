"""What is known of documents stays with them: from files and tables, through selection and pickling."""

import datetime
import io
import json
import pickle

import numpy as np
import pandas as pd
import pytest

from franchise.corpus import (
    Corpus,
    from_counts,
    from_texts,
    from_tokens,
    groups_of,
    read_corpus,
    write_corpus,
)
from franchise.corpus.groups import MISSING, group
from franchise.corpus.metadata import column_of, kind_of, plain_values
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises

TABLE = b"text,year,kind,day\nbee ant,2019,x,2020-01-03\nant,,y,2020-02-28\nbee,2021,,\n"


def csv(content=TABLE, **options):
    return read_corpus(io.BytesIO(content), format="csv", text_column="text", **options)


def columns(corpus):
    metadata = corpus.metadata
    return {} if metadata is None else {name: plain_values(metadata[name]) for name in metadata}


# ---------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["2019", " 2020 ", ""], "number", [2019, 2020, None]),
        (["1.5", "-2e3", "NA"], "number", [1.5, -2000, None]),
        ([1, 2.5, None, float("nan"), np.int8(3)], "number", [1, 2.5, None, None, 3]),
        (["007", "12"], "text", ["007", "12"]),
        (["1e999", "1"], "text", ["1e999", "1"]),
        (["1_000", "1"], "text", ["1_000", "1"]),
        ([2**60, 1], "text", [str(2**60), "1"]),
        ([True, 1], "text", ["True", "1"]),
        ([True, False], "text", ["True", "False"]),
        (["x", "null", "N/A", " x"], "text", ["x", None, None, "x"]),
        (["2020-02-30", "2020-02-28"], "text", ["2020-02-30", "2020-02-28"]),
        ([None, ""], "number", [None, None]),
    ],
)
def test_a_column_has_the_kind_of_all_its_values(values, kind, expected):
    column = column_of("c", values)
    assert (kind_of(column), plain_values(column)) == (kind, expected)
    assert column.isna().tolist() == [one is None for one in expected]


@pytest.mark.parametrize(
    "value",
    [
        "2020-03-01",
        "2020-03",
        "2020-Q1",
        "2020-03-01T00:00:00.25Z",
        "2020-03-01 00:00+02:00",
        datetime.date(2020, 3, 1),
        datetime.datetime(2020, 3, 1, 0, 0, 0, 5),
        np.datetime64("2020-03-01"),
        np.datetime64("2020-03-01T00:00:00.123"),
        pd.Timestamp("2020-03-01", tz="UTC"),
        pd.Timestamp("2020-03-01", tz="Europe/Berlin"),
        pd.Period("2020-03", "M"),
    ],
)
def test_dates(value):
    column = column_of("c", [value, "2019-12-31", pd.NaT])
    first = datetime.datetime(2020, 1 if value == "2020-Q1" else 3, 1)
    assert kind_of(column) == "date"
    assert plain_values(column) == [first, datetime.datetime(2019, 12, 31), None]


def test_lists_are_no_values():
    with raises(CorpusError, "wrong-type", "'tags'", "['a'] (list)", "document 1"):
        column_of("tags", ["a", ["a"]])


# ---------------------------------------------------------------- files


def test_small_columns_are_kept_by_default():
    long = TABLE.replace(b",x,", b"," + b"x" * 201 + b",")
    assert columns(csv()) == {
        "year": [2019, None, 2021],
        "kind": ["x", "y", None],
        "day": [datetime.datetime(2020, 1, 3), datetime.datetime(2020, 2, 28), None],
    }
    assert list(columns(csv(long))) == ["year", "day"]
    assert list(columns(csv(long, metadata=["kind"]))) == ["kind"]
    assert csv(metadata=[]).metadata is None
    assert list(columns(csv(id_column="kind"))) == ["year", "day"]


def test_many_columns_are_not_small():
    names = ",".join(f"c{i}" for i in range(51))
    content = f"text,{names}\nbee,{names}\n".encode()
    assert csv(content).metadata is None
    assert list(columns(csv(content, metadata=["c7"]))) == ["c7"]


def test_every_format_of_columns(tmp_path):
    frame = pd.DataFrame(
        {
            "text": ["bee ant", "ant", "bee"],
            "year": [2019, 2020, 2021],
            "day": pd.to_datetime(["2020-01-03", None, "2020-02-28"]),
            "tags": [["a"], [], ["b"]],
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    frame = frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d"))
    frame.to_csv(tmp_path / "a.tsv", sep="\t", index=False, columns=["text", "year", "day"])
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    found = [
        columns(read_corpus(tmp_path / f"a.{e}", text_column="text")) for e in ("parquet", "tsv", "jsonl")
    ]
    assert found[0] == found[1] == found[2]
    assert list(found[0]) == ["year", "day"]
    assert found[0]["day"] == [datetime.datetime(2020, 1, 3), None, datetime.datetime(2020, 2, 28)]
    with raises(CorpusError, "wrong-type", "'tags'", "['a']"):
        read_corpus(tmp_path / "a.jsonl", text_column="text", metadata=["tags"])
    with raises(CorpusError, "wrong-type", "'tags'"):
        read_corpus(tmp_path / "a.parquet", text_column="text", metadata=["tags"])


def test_keys_that_some_lines_lack():
    rows = [{"text": "bee"}, {"text": "ant", "year": 2020}, {"text": "bee", "kind": "x"}]
    content = "\n".join(map(json.dumps, rows)).encode()
    corpus = read_corpus(io.BytesIO(content), format="jsonl", text_column="text")
    assert columns(corpus) == {"year": [None, 2020, None], "kind": [None, None, "x"]}
    with raises(CorpusError, "unknown-column", "'yaer'", "'year'"):
        read_corpus(io.BytesIO(content), format="jsonl", text_column="text", metadata=["year", "yaer"])


def test_wrong_names_are_refused(tmp_path):
    with raises(CorpusError, "unknown-column", "'Yaer'", "'year'"):
        csv(metadata=["Yaer"])
    with raises(CorpusError, "unknown-column", "'zzz'", "'text', 'year', 'kind', 'day'"):
        csv(metadata=["zzz"])
    with raises(CorpusError, "duplicate-column", "'kind'"):
        csv(TABLE.replace(b"year", b"kind"), metadata=["kind"])
    with raises(SettingsError, "wrong-type", "metadata='year'"):
        csv(metadata="year")
    (tmp_path / "a.txt").write_text("bee\n")
    with raises(SettingsError, "does-not-apply", "metadata", "txt"):
        read_corpus(tmp_path / "a.txt", metadata=["year"])


def test_columns_that_are_there_twice_are_not_kept_by_default():
    assert list(columns(csv(TABLE.replace(b"year", b"kind")))) == ["day"]


def test_json_lines_keep_metadata(tmp_path):
    corpus = csv()
    write_corpus(corpus, tmp_path / "a.jsonl")
    again = read_corpus(tmp_path / "a.jsonl", text_column="text", id_column="id")
    assert columns(again) == columns(corpus)


# ---------------------------------------------------------------- tables in memory


def test_frames_and_dicts():
    frame = pd.DataFrame({"year": [2019, 2020], "kind": pd.Categorical(["a", "b"]), "n": [1, None]})
    corpora = [
        from_texts(["bee", "ant"], metadata=frame),
        from_tokens([["bee"], ["ant"]], metadata=frame.to_dict("list")),
        from_counts([[1, 0], [0, 1]], metadata=frame),
    ]
    for corpus in corpora:
        assert columns(corpus) == {"year": [2019, 2020], "kind": ["a", "b"], "n": [1, None]}
    assert columns(from_texts(["bee", "ant"], metadata=frame["year"])) == {"year": [2019, 2020]}
    dates = {"d": np.array(["2020-01-01", "NaT"], "datetime64[D]")}
    assert columns(from_texts(["bee", "ant"], metadata=dates)) == {"d": [datetime.datetime(2020, 1, 1), None]}


@pytest.mark.parametrize(
    ("metadata", "code", "facts"),
    [
        ({"year": [2019]}, "wrong-length", ("metadata['year']", "1 values", "2 documents")),
        ({"year": "2019"}, "wrong-type", ("metadata['year']", "'2019'")),
        ([2019, 2020], "wrong-type", ("metadata", "[2019, 2020] (list)", "DataFrame")),
    ],
)
def test_bad_tables(metadata, code, facts):
    with raises(CorpusError, code, *facts):
        from_texts(["bee", "ant"], metadata=metadata)


def test_rows_in_another_order_are_refused():
    texts = pd.Series(["bee", "ant"], index=["a", "b"])
    known = pd.DataFrame({"year": [2020, 2019]}, index=["b", "a"])
    with raises(CorpusError, "wrong-order", "metadata.loc[texts.index]"):
        from_texts(texts, metadata=known)
    assert columns(from_texts(texts, metadata=known.loc[texts.index])) == {"year": [2019, 2020]}


def test_metadata_go_where_documents_go():
    corpus = csv()
    chosen = corpus.select([2, 0, 0])
    assert columns(chosen)["year"] == [2021, 2019, 2019]
    assert columns(chosen)["kind"] == [None, "x", "x"]
    assert columns(corpus.select(np.array([False, True, True])))["kind"] == ["y", None]
    assert columns(pickle.loads(pickle.dumps(corpus))) == columns(corpus)


def test_metadata_change_neither_words_nor_fingerprint():
    with_them, without = csv(), csv(metadata=[])
    assert with_them == without
    assert with_them.fingerprint() == without.fingerprint()
    assert np.shares_memory(with_them.x, with_them.with_metadata(None).x)


def test_columns_have_the_types_of_pandas():
    frame = csv().metadata
    assert frame["year"].dtype == float
    assert frame["day"].dtype == "datetime64[s]"
    assert list(frame["kind"].cat.categories) == ["x", "y"]
    assert frame["kind"].isna().tolist() == [False, False, True]
    assert column_of("year", ["2019", "2021"]).dtype == np.int64


def test_categories_stay_in_their_order():
    given = pd.Series(pd.Categorical(["low", None, "2"], categories=["low", "2", "high"]))
    column = column_of("level", given)
    assert plain_values(column) == ["low", None, "2"]
    assert list(column.cat.categories) == ["low", "2", "high"]
    assert group(column).labels == ["low", "2", MISSING]


# ---------------------------------------------------------------- groups


def grouped(values, step=None):
    found = group(column_of("c", values), step)
    return found.labels, found.of.tolist()


def test_missing_values_are_a_group_of_their_own():
    assert grouped(["b", None, "a", "b"]) == (["a", "b", MISSING], [1, 2, 0, 1])
    assert grouped([None, None]) == ([MISSING], [0, 0])


def test_numbers_and_their_steps():
    assert grouped([2021, 1999, 2021]) == ([1999, 2021], [1, 0, 1])
    assert grouped([2021, 1999, 1990, 2009], 10) == ([1990, 2000, 2020], [2, 0, 0, 1])
    assert grouped([2021, 1999, 1990, 2009], "10") == ([1990, 2000, 2020], [2, 0, 0, 1])
    assert grouped([0.3, 0.1, 0.25], 0.1) == ([0.1, 0.2, 0.3], [2, 0, 1])


@pytest.mark.parametrize(
    ("step", "labels"),
    [
        ("day", ["2019-12-30", "2020-01-05", "2020-01-06", "2020-05-01"]),
        ("week", ["2019-12-30", "2020-01-06", "2020-04-27"]),
        ("month", ["2019-12", "2020-01", "2020-05"]),
        ("quarter", ["2019-Q4", "2020-Q1", "2020-Q2"]),
        ("year", [2019, 2020]),
        ("decade", [2010, 2020]),
    ],
)
def test_dates_and_their_steps(step, labels):
    assert grouped(["2019-12-30", "2020-01-05", "2020-01-06", "2020-05-01T12:00"], step)[0] == labels


def test_dates_before_1970():
    assert grouped(["1789-04-30", "1969-12-31"], "quarter")[0] == ["1789-Q2", "1969-Q4"]
    assert grouped(["1789-04-30", "1969-12-31"], "decade")[0] == [1780, 1960]


def test_dates_get_the_shortest_step_that_can_be_read():
    days = np.datetime64("2020-01-01") + np.arange(2000)
    assert grouped(days[:60])[0][:2] == ["2020-01-01", "2020-01-02"]
    assert grouped(days[:100])[0][:2] == ["2019-12-30", "2020-01-06"]
    assert grouped(days[:1000])[0][:2] == ["2020-01", "2020-02"]
    assert grouped(days)[0][:2] == ["2020-Q1", "2020-Q2"]
    assert grouped(["2020-01", "2020-02"])[0] == ["2020-01", "2020-02"]


@pytest.mark.parametrize(
    ("values", "step", "code", "facts"),
    [
        ([f"title {i}" for i in range(201)], None, "too-many-groups", ("201 groups", "200")),
        (range(1000), None, "too-many-groups", ("1,000 groups", "100")),
        (np.datetime64("2020-01-01") + np.arange(300), "day", "too-many-groups", ("'day'",)),
        (
            [*(f"2020-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(300)), "soon"],
            None,
            "too-many-groups",
            ("'soon'",),
        ),
    ],
)
def test_too_many_groups(values, step, code, facts):
    with raises(CorpusError, code, *facts):
        grouped(values, step)


@pytest.mark.parametrize(
    ("values", "step", "code", "facts"),
    [
        (["a"], "year", "does-not-apply", ("step='year'",)),
        ([1], "year", "not-a-positive-number", ("step=",)),
        ([1], 0, "not-a-positive-number", ("step=",)),
        (["2020-01-01"], "fortnight", "unknown-choice", ("step=", "day, week, month")),
        (["2020-01-01"], 10, "unknown-choice", ("step=", "day, week, month")),
    ],
)
def test_steps_that_do_not_fit(values, step, code, facts):
    with raises(SettingsError, code, *facts):
        grouped(values, step)


def test_groups_by_name_or_by_values():
    corpus = csv()
    assert groups_of(corpus, "year").labels == [2019, 2021, MISSING]
    named = groups_of(corpus, pd.Series(["u", "v", "u"], name="side"))
    assert (named.name, named.labels, named.of.tolist()) == ("side", ["u", "v"], [0, 1, 0])
    with raises(CorpusError, "unknown-column", "'Years'", "'year'"):
        groups_of(corpus, "Years")
    with raises(CorpusError, "wrong-length", "by has", "2 values", "3 documents"):
        groups_of(corpus, [1, 2])
    with raises(CorpusError, "no-metadata", "--metadata year"):
        groups_of(Corpus([0], [0, 1], ["a"]), "year")
    with raises(SettingsError, "wrong-type", "by=3"):
        groups_of(corpus, 3)
