"""Fail, naming the places, where prose uses a phrase that readers stumble over.

    python tools/prose.py            look at all docs, docstrings, comments, messages and help texts
    python tools/prose.py --count    count hits by pattern and by folder
    python tools/prose.py FILE ...   look at these files

A hit is a place to reread. If the phrase is right there, add a line to `tools/prose_accepted.txt`: the file,
a colon, and the phrase. The list of patterns comes from reading the project aloud; it finds a part of what a
reader finds.
"""

import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ACCEPTED = Path(__file__).with_name("prose_accepted.txt")
KINDS = ("*.py", "*.md", "*.rst", "*.html", "*.cuh")
SKIPPED = ("tests/data", "experiments/results", "tools/prose.py", "tools/tests/test_prose.py")
FEWEST_SPACES = 3  # of a string that is a sentence

PATTERNS = {
    "'so many' for a number": r"\bso many(?:-th|th)?\b|how manyeth",
    "'so much' for an amount": r"\bso much of\b|\bas much longer\b",
    "a person for a program": r"\bwho(?:ever)? (?:has|have|waits?|sits?|wants?|keeps?|needs?|asks?|takes?)\b"
    r"|\bwho(?:ever)? looks?\b|\bnobody\b|\bsomebody\b|\b(?:is|are) told\b|\bhears?\b",
    "'a word' for 'per word'": (
        r"\b(?:nats|bytes|bits|ns|ms|seconds?|s|words|topics|tables|trials|chains|documents) "
        r"an? (?:word|sweep|second|topic|document|chain|trial|core|machine|minute|pair|table)\b"
    ),
    "'of X' before the verb": (
        r"(?:^|[.;:] )Of (?!course)(?:[a-z]+ ){1,4}[a-z]+ "
        r"(?:are|is|was|were|have|has|take|takes|end|stay)\b"
    ),
    "'be had', 'that there is'": (
        r"\b(?:to )?be had\b|\bthat are none\b|\bthat there is\b|\bif there is one\b"
    ),
    "'go on', 'take up'": (
        r"\bgo(?:es)? on\b(?! to| the)|\btak(?:e|es|en|ing) up\b(?! to)"
        r"|\bcom(?:e|es|ing) to (?:be|lie|an end)\b|\bbrings? (?:near|up to date)\b"
    ),
    "'anew', 'likewise'": (
        r"\banew\b|\blikewise\b|\ball the same\b|\bthereby\b|\bwhereof\b|\bwherein\b|\bthat much\b"
    ),
    "'is to be' for must": r"\b(?:is|are) to be (?!a |an |the )[a-z]+ed\b|\bare tried to\b",
    "'beside', 'alike'": r"\bno like\b|\bits like\b|\bwithout like\b|\b[Bb]eside (?:it|them|others?)\b",
    "'less' for minus": r"\bless what\b|\bless the truth's\b|\bless a tenth\b|\bless that\b",
    "'how X it is' as a noun": (
        r"\bhow (?:common|sure|far|good|soon|large|often) "
        r"(?:terms|it|they|each|a|chains|others|engines) (?:are|is|has|have|come|comes)\b"
    ),
    "a 'what' clause as the subject": (
        r"(?:^|[.;] )What (?:is|are|was|were|follows|only|a|the|else|they|it) [^?]{10,90}[.;]"
    ),
    "'such' without 'as'": r"\bby such\b|\bof such\b|\bsuch that [a-z]+ (?:are|is) kept\b",
    "other": r"\bfor people who wait\b|\bstands? (?:twice|for)\b|\bthe suited\b|\bdifferent stories\b",
}
_COMPILED = {name: re.compile(pattern, re.MULTILINE) for name, pattern in PATTERNS.items()}


class Hit(NamedTuple):
    """A phrase to reread."""

    path: str
    line: int
    pattern: str
    phrase: str
    text: str


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of prose in a file: of Python, its docstrings, comments and sentences in strings."""
    text = path.read_text("utf-8", errors="replace")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    strings = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
        elif token.type in strings:
            for number, line in enumerate(token.string.splitlines()):
                if line.count(" ") >= FEWEST_SPACES:
                    yield token.start[0] + number, line


def hits_in(path: Path, name: str) -> tuple[list[Hit], int]:
    """Return the hits in a file that is called `name`, and the number of its words."""
    found, words = [], 0
    for number, line in prose_of(path):
        words += len(line.split())
        for pattern, compiled in _COMPILED.items():
            for match in compiled.finditer(line):
                found.append(Hit(name, number, pattern, match.group().strip(" .;:"), line.strip()))
    return found, words


def accepted() -> set[tuple[str, str]]:
    """Return the accepted uses: file and phrase."""
    lines = (line.strip() for line in ACCEPTED.read_text("utf-8").splitlines())
    pairs = (line.partition(": ") for line in lines if line and not line.startswith("#"))
    return {(path, phrase) for path, _, phrase in pairs}


def main(arguments: list[str]) -> int:
    """Print hits, or their numbers; return how many are not accepted, at most 1."""
    count = "--count" in arguments
    names = [name for name in arguments if name != "--count"] or _tracked()
    known, used = accepted(), set()
    hits, words = [], 0
    for name in names:
        found, size = hits_in(ROOT / name, name)
        used.update((hit.path, hit.phrase) for hit in found)
        hits += [hit for hit in found if (hit.path, hit.phrase) not in known]
        words += size
    if count:
        for pattern, number in Counter(hit.pattern for hit in hits).most_common():
            print(f"{number:6d}  {pattern}")
        for folder, number in Counter(_folder(hit.path) for hit in hits).most_common():
            print(f"{number:6d}  {folder}")
    else:
        for hit in hits:
            print(f"{hit.path}:{hit.line}: [{hit.phrase}] {hit.text[:120]}")
    print(f"{len(hits)} hits in {words:,} words, {1000 * len(hits) / max(1, words):.2f} per 1,000")
    unused = [] if len(names) < len(known) else sorted(known - used)
    for path, phrase in unused:
        print(f"{ACCEPTED.name}: {path}: {phrase}: no longer used; remove the line")
    return 1 if hits or unused else 0


def _tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", *KINDS], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if not name.startswith(SKIPPED)]


def _folder(path: str) -> str:
    parts = path.split("/")
    return "/".join(parts[:3]) if parts[0] == "src" and len(parts) > 3 else parts[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
