"""Fail, naming the places, when an underscored name is used outside the package that defines it.

    python tools/private_names.py            look at src/franchise
    python tools/private_names.py FOLDER     look at another folder of packages

A name is private to the folder of its file, a module to the folder that contains it and those below: so
`franchise._files` is there for all of `franchise`. Three forms are looked for:

    from franchise.storage.model import _MODEL    a name, or a private module on the way to it
    store._MODEL, model._chains                   an attribute of anything but self, cls and super()
    getattr(model, "_chains")                     the same, in words

An attribute counts as the package's own if any file of the folder defines that name. Names like `__init__`
and what a NamedTuple offers (`_replace`) are public.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src"
OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
OWN = {"self", "cls"}
IN_WORDS = {"getattr", "setattr", "hasattr", "delattr"}


def is_private(name: str) -> bool:
    is_dunder = name.startswith("__") and name.endswith("__")
    return name.startswith("_") and name.strip("_") != "" and not is_dunder and name not in OF_NAMED_TUPLES


def faults(root: Path) -> list[str]:
    """Return file, line and name of each use of a private name from elsewhere, in a folder of packages."""
    defined_in.cache_clear()
    return [
        f"{path.relative_to(root)}:{line}: {name} is private to another package"
        for path in sorted(root.rglob("*.py"))
        for line, name in sorted(_uses(ast.parse(path.read_text("utf-8")), path, root))
    ]


def _uses(tree: ast.Module, path: Path, root: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _of_module(node.lineno, alias.name.split("."), path, root)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, path, root)
            yield from _of_module(node.lineno, module, path, root)
            for alias in node.names:
                if is_private(alias.name) and not _may_import(module, alias.name, path, root):
                    yield node.lineno, ".".join([*module, alias.name])
        else:
            name = _attribute(node)
            if is_private(name) and name not in defined_in(path.parent):
                yield node.lineno, f".{name}"  # type: ignore[attr-defined]


def _absolute(node: ast.ImportFrom, path: Path, root: Path) -> list[str]:
    """Return the parts of the name of the module that is imported from."""
    own = list(path.relative_to(root).parent.parts)
    start = own[: len(own) - node.level + 1] if node.level else []
    return [*start, *(node.module or "").split(".")] if node.module else start


def _of_module(line: int, module: list[str], path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Find private modules, on the way to this one, that lie outside the folders above the file."""
    for i, part in enumerate(module):
        if is_private(part) and root.joinpath(*module[:i]) not in _packages_of(path, root):
            yield line, ".".join(module[: i + 1])


def _may_import(module: list[str], name: str, path: Path, root: Path) -> bool:
    home = root.joinpath(*module)
    if home.is_dir():
        is_module = (home / f"{name}.py").is_file() or (home / name).is_dir()
        return home in _packages_of(path, root) if is_module else home == path.parent
    return home.parent == path.parent


def _packages_of(path: Path, root: Path) -> list[Path]:
    return [folder for folder in path.parents if folder.is_relative_to(root) and folder != root]


def _attribute(node: ast.AST) -> str:
    """Return the attribute that is asked of something else than self, cls and super(); nothing if none is."""
    if isinstance(node, ast.Attribute):
        of, name = node.value, node.attr
    elif _is_call(node, IN_WORDS) and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        of, name = node.args[0], str(node.args[1].value)
    else:
        return ""
    is_own = (isinstance(of, ast.Name) and of.id in OWN) or _is_call(of, {"super"})
    return "" if is_own else name


def _is_call(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


@cache
def defined_in(folder: Path) -> frozenset[str]:
    """Return the names that the files of a folder define: in modules, in classes, and of self."""
    names = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and not _attribute(node):
                names.add(node.attr)
    return frozenset(names)


def main() -> int:
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else SRC
    found = faults(root)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
