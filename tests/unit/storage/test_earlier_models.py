"""Models written by earlier versions open, give the same answers, and can be resumed.

Each folder in tests/data/models holds a model in one of the formats that are read;
`docs/reference/stability.md` promises that they open. When the format changes after a release, add a folder.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel, cli
from franchise._version import VERSION

MODELS = Path(__file__).resolve().parents[2] / "data" / "models"
FOLDERS = sorted(MODELS.iterdir())


@pytest.fixture(params=FOLDERS, ids=[folder.name for folder in FOLDERS])
def folder(request, tmp_path):
    return shutil.copytree(request.param, tmp_path / "model")


def test_there_is_a_model_in_every_format_that_is_read():
    versions = [json.loads((folder / "model.json").read_text("utf-8"))["version"] for folder in FOLDERS]
    assert versions == [6]
    assert versions[-1] == VERSION, "the format is new: add a model that was written in it"


def test_the_answer_is_that_of_the_version_that_wrote_it(folder):
    model = HDPTopicModel.load(folder)
    written = pd.read_csv(folder / "topics.csv")
    now = model.topics()
    assert model.n_topics_ == len(written) > 1
    # The largest: another version may match those of few draws in another way.
    assert now["terms"][:2].tolist() == written["terms"][:2].tolist()
    assert np.allclose(now["weight"][:2], written["weight"][:2], rtol=0, atol=1e-6)
    assert model.topic_labels_[0] == "first"
    assert model.transform(["the dog and the cat"]).sum() == pytest.approx(1)


def test_it_is_shown_on_the_command_line(folder):
    for command in ("topics", "diagnose", "inspect"):
        answer = CliRunner().invoke(cli.main, [command, str(folder)])
        assert answer.exit_code == 0, answer.output


@pytest.mark.filterwarnings("ignore:the topics have changed")
def test_it_goes_on_and_is_saved_anew(folder, tmp_path):
    model = HDPTopicModel.load(folder)
    before = [chain.trace.rows[:9] for chain in model.chains_]
    model.resume(sweeps=4)
    assert [chain.sweeps_done for chain in model.chains_] == [12, 12]
    assert [chain.trace.rows[:9] for chain in model.chains_] == before
    model.save(tmp_path / "again")
    again = HDPTopicModel.load(tmp_path / "again")
    assert again.topics().equals(model.topics())
    assert again.chains_[0].schedule == model.chains_[0].schedule
