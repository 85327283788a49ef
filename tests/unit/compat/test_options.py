import time
from dataclasses import fields
from pathlib import Path

import pytest

from franchise.compat.options import DIFFERENCES, HdpOptions, parse, usage
from franchise.errors import SettingsError
from tests.raising import raises

NEEDED = ["--algorithm", "train", "--data", "d.ldac", "--directory", "out"]
DEFAULTS = {
    "max_iter": 1000,
    "save_lag": 100,
    "init_topics": 0,
    "gamma_a": 1.0,
    "gamma_b": 1.0,
    "alpha_a": 1.0,
    "alpha_b": 1.0,
    "sample_hyper": False,
    "eta": 0.5,
    "split_merge": False,
    "restrict_scan": 5,
    "saved_model": None,
}


def test_what_is_not_given_has_the_programs_default():
    before = int(time.time())
    options = parse(NEEDED)
    assert (options.algorithm, options.data, options.directory) == ("train", Path("d.ldac"), Path("out"))
    assert {name: getattr(options, name) for name in DEFAULTS} == DEFAULTS
    assert before <= options.random_seed <= time.time()


def test_every_option_is_read():
    given = (
        "--max_iter 21 --save_lag -1 --random_seed 7 --init_topics -3 --gamma_a 2 --gamma_b 0.5 --alpha_a 3 "
        "--alpha_b 1e-1 --sample_hyper yes --eta .01 --split_merge YES --restrict_scan -1 --saved_model m.bin"
    )
    assert parse([*NEEDED, *given.split()]) == HdpOptions(
        algorithm="train",
        data=Path("d.ldac"),
        directory=Path("out"),
        max_iter=21,
        save_lag=-1,
        random_seed=7,
        init_topics=-3,
        gamma_a=2.0,
        gamma_b=0.5,
        alpha_a=3.0,
        alpha_b=0.1,
        sample_hyper=True,
        eta=0.01,
        split_merge=True,
        restrict_scan=-1,
        saved_model=Path("m.bin"),
    )


@pytest.mark.parametrize(("word", "value"), [("yes", True), ("YES", True), ("no", False), ("NO", False)])
def test_yes_and_no(word, value):
    assert parse([*NEEDED, "--split_merge", word]).split_merge is value


def test_of_an_option_given_twice_the_last_counts():
    assert parse([*NEEDED, "--eta", "0.1", "--eta", "0.2"]).eta == 0.2


@pytest.mark.parametrize(
    ("words", "code", "facts"),
    [
        ("--alpha 1", "unknown-option", ["--alpha"]),
        ("--eta=1", "unknown-option", ["--eta=1"]),
        ("-eta 1", "unknown-option", ["-eta"]),
        ("eta 1", "unknown-option", ["eta"]),
        ("--max 3", "unknown-option", ["--max"]),
        ("--eta", "missing-value", ["--eta"]),
        ("--eta small", "not-a-number", ["--eta small"]),
        ("--eta 0", "not-a-positive-number", ["eta=0.0"]),
        ("--eta -1", "not-a-positive-number", ["eta=-1.0"]),
        ("--eta nan", "not-a-positive-number", ["eta=nan"]),
        ("--gamma_b inf", "not-a-positive-number", ["gamma_b=inf"]),
        ("--alpha_a 0", "not-a-positive-number", ["alpha_a=0.0"]),
        ("--max_iter 12x", "not-a-whole-number", ["--max_iter 12x"]),
        ("--max_iter 1e3", "not-a-whole-number", ["--max_iter 1e3"]),
        ("--max_iter -1", "not-a-whole-number", ["max_iter=-1", "0 or more"]),
        ("--save_lag 0", "not-a-whole-number", ["save_lag=0", "1 or more", "or -1"]),
        ("--save_lag -2", "not-a-whole-number", ["save_lag=-2", "1 or more", "or -1"]),
        ("--restrict_scan -2", "not-a-whole-number", ["restrict_scan=-2", "-1 or more"]),
        ("--random_seed -1", "not-a-whole-number", ["random_seed=-1", "from 0 to"]),
        ("--sample_hyper Yes", "not-a-flag", ["--sample_hyper Yes", "yes or no"]),
        ("--split_merge true", "not-a-flag", ["--split_merge true", "yes or no"]),
        ("--algorithm fit", "unknown-choice", ["algorithm='fit'", "'train'", "'test'"]),
        ("--algorithm test", "missing-setting", ["saved_model"]),
        (
            "--algorithm test --saved_model m.bin --sample_hyper yes",
            "conflicting-settings",
            ["sample_hyper=True"],
        ),
    ],
)
def test_what_is_wrong_is_said(words, code, facts):
    with raises(SettingsError, code, *facts):
        parse([*NEEDED, *words.split()])


@pytest.mark.parametrize("name", ["--algorithm", "--data", "--directory"])
def test_what_is_needed_is_said(name):
    at = NEEDED.index(name)
    with raises(SettingsError, "missing-setting", "--algorithm", "--data", "--directory") as caught:
        parse(NEEDED[:at] + NEEDED[at + 2 :])
    assert str(caught.value).startswith(f"{name} ")
    with raises(SettingsError, "missing-setting", "--algorithm --data --directory"):
        parse([])


def test_the_usage_names_every_option_its_default_and_every_difference():
    text = usage()
    for option in fields(HdpOptions):
        assert f"\n  --{option.name} " in text
    for default in ("[1000]", "[100]", "[the clock]", "[0.5]", "[no]", "[5]"):
        assert default in text
    for difference in DIFFERENCES:
        assert "\n" not in difference
        assert f"  - {difference}" in text
