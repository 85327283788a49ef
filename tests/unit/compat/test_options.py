import time
from dataclasses import fields
from pathlib import Path

import pytest

from franchise.compat.options import DIFFERENCES, HdpOptions, parse, usage
from franchise.errors import SettingsError

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
    ("words", "complaint"),
    [
        ("--alpha 1", "--alpha: there is no such option"),
        ("--eta=1", "--eta=1: there is no such option"),
        ("-eta 1", "-eta: there is no such option"),
        ("eta 1", "eta: there is no such option"),
        ("--max 3", "--max: there is no such option"),
        ("--eta", "--eta: its value is missing"),
        ("--eta small", "--eta small: give a number"),
        ("--eta 0", "eta=0.0: give a positive number"),
        ("--eta -1", "eta=-1.0: give a positive number"),
        ("--eta nan", "eta=nan: give a positive number"),
        ("--gamma_b inf", "gamma_b=inf: give a positive number"),
        ("--alpha_a 0", "alpha_a=0.0: give a positive number"),
        ("--max_iter 12x", "--max_iter 12x: give a whole number"),
        ("--max_iter 1e3", "--max_iter 1e3: give a whole number"),
        ("--max_iter -1", "max_iter=-1: give a whole number, 0 or more"),
        ("--save_lag 0", "save_lag=0: give a whole number, 1 or more, or -1 to save nothing on the way"),
        ("--save_lag -2", "save_lag=-2: give a whole number, 1 or more, or -1"),
        ("--restrict_scan -2", "restrict_scan=-2: give a whole number, -1 or more"),
        ("--random_seed -1", "random_seed=-1: give a whole number, from 0 to"),
        ("--sample_hyper Yes", "--sample_hyper Yes: give yes or no"),
        ("--split_merge true", "--split_merge true: give yes or no"),
        ("--algorithm fit", "algorithm='fit': give 'train' or 'test'"),
        ("--algorithm test", "saved_model is missing"),
        ("--algorithm test --saved_model m.bin --sample_hyper yes", "sample_hyper=True: a saved model lacks"),
    ],
)
def test_what_is_wrong_is_said(words, complaint):
    with pytest.raises(SettingsError) as error:
        parse([*NEEDED, *words.split()])
    assert str(error.value).startswith(complaint)


@pytest.mark.parametrize("name", ["--algorithm", "--data", "--directory"])
def test_what_is_needed_is_said(name):
    at = NEEDED.index(name)
    with pytest.raises(SettingsError, match=f"{name} is missing"):
        parse(NEEDED[:at] + NEEDED[at + 2 :])
    with pytest.raises(SettingsError, match="--algorithm --data --directory is missing"):
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
