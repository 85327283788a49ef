"""A file of texts need not fit in memory: only its words, and what it takes to sort them."""

import json
import subprocess
import sys

import numpy as np
import pytest

MEASURE = """
import json, resource, sys
from franchise.corpus import read_corpus

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

small, large = sys.argv[1:]
read_corpus(small, text_column="text", keep_texts=False)  # libraries are loaded, and do not count
before = peak()
corpus = read_corpus(large, text_column="text", keep_texts=False)
strings = sum(map(sys.getsizeof, corpus.vocabulary + corpus.document_names))
print(json.dumps({
    "used": peak() - before,
    "arrays": corpus.x.nbytes + corpus.doc_ptr.nbytes,
    "strings": strings,
    "words": corpus.n_words,
}))
"""


def write_texts(path, n_bytes):
    """Write documents of 150 words out of 50,000, a few of them common, most of them rare."""
    rng = np.random.default_rng(0)
    terms = ["term" + "".join(map(chr, rng.integers(97, 123, 5))) for _ in range(50_000)]
    shares = 1 / np.arange(10, 50_010)
    texts = [
        " ".join(terms[v] for v in rng.choice(len(terms), 150, p=shares / shares.sum())) for _ in range(2000)
    ]
    with open(path, "w") as file:
        while file.tell() < n_bytes:
            file.writelines(json.dumps({"text": text}) + "\n" for text in texts)


@pytest.mark.large
def test_half_a_gigabyte_of_json_lines(tmp_path):
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    write_texts(small, 1)
    write_texts(large, 500_000_000)
    command = [sys.executable, "-c", MEASURE, small, large]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    measured = json.loads(run.stdout)
    assert measured["words"] > 40_000_000
    assert measured["used"] - measured["strings"] < 3 * measured["arrays"], measured
