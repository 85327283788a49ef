"""Use an installed franchise as its users do: import, fit, save, load, command line. Run by release_check.py.

    python -I tools/release_smoke.py VERSION

It writes into the folder where it is run, which should be empty. It imports nothing but what the wheel
brings, and ends with an error at the first thing that is not as it should be.
"""

import shutil
import subprocess
import sys
import sysconfig
from importlib.resources import files
from pathlib import Path

N_DOCUMENTS = 150


def check(is_so: bool, what: str) -> None:
    """Stop, saying what, unless something is so (an assert would be left out by -O)."""
    if not is_so:
        raise SystemExit(f"smoke test: {what}")


def imports(release: str) -> None:
    import franchise

    home = Path(franchise.__file__).resolve()
    check(home.is_relative_to(Path(sys.prefix).resolve()), f"franchise comes from {home}, not from the wheel")
    check(franchise.__version__ == release, f"the version is {franchise.__version__}, not {release}")
    for name in franchise.__all__:
        getattr(franchise, name)
    check(files("franchise").joinpath("py.typed").is_file(), "py.typed is missing: no types for users")


def fits_and_loads() -> None:
    import numpy as np

    from franchise import HDPTopicModel, TextOptions, from_texts
    from franchise.corpus.stop_words import LANGUAGES
    from franchise.datasets import arxiv_abstracts, arxiv_months

    texts = list(arxiv_abstracts())[:N_DOCUMENTS]
    check(len(arxiv_months()) > 1000, "the abstracts of 16 months are not all there")
    for language in LANGUAGES:
        from_texts(texts[:3], text_options=TextOptions(stop_words=language))
    model = HDPTopicModel(sweeps=12, chains=2, random_state=0, verbose=0).fit(texts)
    model.save("model")
    loaded = HDPTopicModel.load("model")
    check(
        loaded.n_topics_ == model.n_topics_ > 1, f"{model.n_topics_} topics, after loading {loaded.n_topics_}"
    )
    new = ["galaxies and stars in the early universe"]
    check(np.array_equal(loaded.transform(new), model.transform(new)), "a loaded model says something else")
    Path("abstracts.txt").write_text("\n".join(" ".join(text.split()) for text in texts), "utf-8")


def command_line(release: str) -> None:
    name = "franchise.exe" if sys.platform == "win32" else "franchise"
    script = Path(sysconfig.get_path("scripts")) / name

    def call(*words: str) -> str:
        done = subprocess.run([script, *words], capture_output=True, text=True, encoding="utf-8", check=False)
        check(done.returncode == 0, f"franchise {' '.join(words)}: {done.stderr}")
        return done.stdout

    check(call("--version").split() == ["franchise", release], "franchise --version says something else")
    call("fit", "abstracts.txt", "-o", "fitted", "--sweeps", "6", "--chains", "1", "--random-state", "1")
    for folder in ("model", "fitted"):
        rows = call("topics", folder, "--format", "csv").splitlines()
        check(rows[0].startswith("topic") and len(rows) > 2, f"franchise topics {folder} says {rows[:2]}")
    call("diagnose", "model")


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    imports(sys.argv[1])
    fits_and_loads()
    command_line(sys.argv[1])
    for folder in ("model", "fitted"):
        shutil.rmtree(folder)
    print("passed")


if __name__ == "__main__":
    main()
