"""The source code of the kernels, and the constants that they share with their callers."""

from functools import cache
from importlib.resources import files

BLOCK = 256  # threads that share fast memory
TERMS = 64  # terms added up by one thread
CHUNK = 8  # columns whose sum a word looks up
NEAR = 8  # topics of a document kept in fast memory; further ones are in slow memory
SIDE_BY_SIDE = 32  # documents
FEW = 64  # sizes of tables counted in fast memory
TILE = 16  # fitted topics whose words in a document are added up together

_FILES = ("portable", "random", "measure", "seats", "documents", "long_documents", "tables", "starts")


@cache
def kernel_source() -> str:
    """Return the whole source, for any C++ compiler."""
    numbers = {"BLOCK": BLOCK, "TERMS": TERMS, "CHUNK": CHUNK, "NEAR": NEAR}
    numbers |= {"SIDE_BY_SIDE": SIDE_BY_SIDE, "FEW": FEW, "TILE": TILE}
    defined = [f"#define {name} {value}\n" for name, value in numbers.items()]
    folder = files("franchise.engines.partitions.cuda") / "kernels"
    return "".join([*defined, *((folder / f"{name}.cuh").read_text("utf-8") for name in _FILES)])
