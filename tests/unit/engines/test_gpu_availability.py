"""Whether there is a GPU: what is wrong is said in words, with what to do, and asking harms nothing."""

import subprocess
import sys

import pytest

from franchise import GpuError
from franchise.engines.partitions.cuda.availability import cupy_module, gpu_facts, problem
from tests.raising import check, raises
from tests.reference.gpus import GIB, fake_cupy, with_cupy

PROBLEMS = {
    "no driver": (
        {"status": 35, "driver": 0},
        "no-gpu",
        ["NVIDIA driver"],
    ),
    "hidden": ({"status": 100}, "no-gpu", ["CUDA_VISIBLE_DEVICES"]),
    "none counted": ({"devices": 0}, "no-gpu", ["CUDA_VISIBLE_DEVICES"]),
    "old driver": (
        {"status": 35, "driver": 12020, "made_for": 12090},
        "gpu-driver-too-old",
        ["NVIDIA driver", "CUDA up to 12.2", "CuPy here is made for 12.9"],
    ),
    "CuPy for another CUDA": (
        {"status": 35, "driver": 12080, "made_for": 13000},
        "gpu-driver-too-old",
        ["CUDA up to 12.8", "CuPy here is made for 13.0", "CuPy for CUDA 12"],
    ),
    "a GPU that does not answer": (
        {"status": 999},
        "unusable-gpu",
        ["cudaErrorOfNumber999: as CUDA says it", "nvidia-smi"],
    ),
    "an old GPU": (
        {"name": b"Tesla P100-PCIE-16GB", "capability": (6, 0)},
        "gpu-too-old",
        ["Tesla P100-PCIE-16GB", "6.0", "7.0"],
    ),
    "no compiler": (
        {"compiler": RuntimeError('Failure finding "libnvrtc.so.12"\nand much more')},
        "no-cuda-compiler",
        ["NVRTC", '(Failure finding "libnvrtc.so.12")', 'pip install "franchise[gpu]"'],
    ),
    "a newer compiler": (
        {"compiler": (13, 0), "driver": 12040},
        "gpu-driver-too-old",
        ["NVRTC", "CUDA 13.0", "CUDA up to 12.4", "CuPy for CUDA 12"],
    ),
    "AMD's": ({"is_hip": True}, "unusable-cupy", ["AMD's ROCm", "NVIDIA GPU"]),
    "something unexpected": ({"memory": "much"}, "unusable-gpu", ["(invalid literal for int()"]),
}


@pytest.mark.parametrize(("answers", "code", "facts"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_is_wrong_is_said_in_words(monkeypatch, answers, code, facts):
    with with_cupy(monkeypatch, fake_cupy(**answers)):
        found = problem()
        check(found, code, *facts)
        assert "\n" not in str(found)
        for ask in (gpu_facts, cupy_module):
            with raises(GpuError, code, found):
                ask()


def test_no_cupy(monkeypatch):
    with with_cupy(monkeypatch, None):
        check(problem(), "missing-package", "CuPy", 'pip install "franchise[gpu]"')


@pytest.mark.parametrize(
    ("source", "fact"),
    [
        (
            "try:\n    import no_such_library\nexcept ImportError as error:\n"
            "    raise ImportError('=====\\nFailed to import CuPy.\\nPages of it') from error",
            "(No module named 'no_such_library')",
        ),
        (
            "raise ImportError('''\n====\n  libcublas.so.11 not found\n====\n''')",
            "(libcublas.so.11 not found)",
        ),
        ("import no_such_library", "(No module named 'no_such_library')"),
        ("raise RuntimeError", "(RuntimeError)"),
    ],
)
def test_a_cupy_that_cannot_be_loaded(monkeypatch, tmp_path, source, fact):
    (tmp_path / "cupy.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with with_cupy(monkeypatch, None) as patch:
        patch.delitem(sys.modules, "cupy")
        check(problem(), "unusable-cupy", fact, "pip list")


def test_a_gpu_that_can_be_used(monkeypatch):
    cupy = fake_cupy()
    with with_cupy(monkeypatch, cupy):
        assert problem() is None
        assert gpu_facts() == ("NVIDIA H200", 139 * GIB, (9, 0))
        assert gpu_facts().in_words() == "NVIDIA H200, 139 GiB"
        assert cupy_module() is cupy


@pytest.mark.parametrize("capability", [(7, 0), (7, 5), (12, 1)])
def test_those_that_are_new_enough(monkeypatch, capability):
    with with_cupy(monkeypatch, fake_cupy(capability=capability, driver=13000)):
        assert problem() is None


@pytest.mark.parametrize("answers", [{}, {"status": 100}])
def test_the_driver_is_asked_once(monkeypatch, answers):
    cupy = fake_cupy(**answers)
    asked, count = [], cupy.cuda.runtime.getDeviceCount

    def counted():
        asked.append(1)
        return count()

    cupy.cuda.runtime.getDeviceCount = counted
    with with_cupy(monkeypatch, cupy):
        assert problem() == problem()
    assert asked == [1]


def test_warnings_of_cupy_are_none_of_ours(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text("import warnings\nwarnings.warn('CUDA path could not be detected')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with with_cupy(monkeypatch, None) as patch:
        patch.delitem(sys.modules, "cupy")
        check(problem(), "unusable-gpu", "'cuda'")  # it was imported, and is no CuPy


def test_nothing_imports_cupy_before_a_gpu_is_asked_for():
    code = (
        "import sys, franchise.cli, franchise.estimator, franchise.engines.partitions.cuda.availability\n"
        "assert 'cupy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
