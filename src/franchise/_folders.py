"""Folders that are complete or absent, and locks that keep other processes from writing in them.

A folder is written under a temporary name next to its own. Replacing another one takes four names::

    name          what readers see
    .name.tmp     the new folder while it is written
    .name.old     the old folder, complete, from the moment it loses its name until the new one has it
    .name.gone    the old folder while it is removed
    .name.lock    the lock of `locked_name`

A process can be killed at any moment. If it has taken the name from the old folder but not yet given it to
the new one, the next reader (`put_back`) or writer (`writing_in`) gives it back to the old one.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from franchise._files import cannot_write
from franchise.errors import ModelError

Holds = Callable[[Path], bool]  # says whether a folder has the expected contents, without changing anything

_LEASE = 120.0  # seconds
_WINDOWS = os.name == "nt"


# ---------------------------------------------------------------- replacing a folder


@contextmanager
def writing_in(folder: Path, holds: Holds) -> Iterator[None]:
    """Be the only process that makes, replaces or fills a folder; refuse if another does.

    Remains of a killed process are removed first.
    """
    with locked_name(folder):
        try:
            _tidy(folder, holds)
        except OSError as error:
            raise cannot_write(folder, error) from error
        yield


def put_back(folder: Path, holds: Holds) -> None:
    """Give a folder its name back, if a process was killed before it could give the name to another one.

    Raises
    ------
    ModelError
        If that is not possible, or the process is still running.
    """
    old = _beside(folder, "old")
    if folder.exists() or not holds(old):
        return
    try:
        with writing_in(folder, holds):
            pass
    except ModelError as error:
        raise ModelError(
            f"{folder}: another process is replacing it, or was killed while it did. "
            f"Wait for it, or, if no process is running, rename {old} to {folder.name}.",
            code="replacement-cut-off",
        ) from error


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Make the temporary folder in which `folder` is written; remove it at the end if it is still there.

    The caller has exclusive access (`writing_in`), and calls `take_place` when everything is written.
    """
    temporary = _beside(folder, "tmp")
    try:
        try:
            temporary.mkdir(parents=True)
        except OSError as error:
            raise cannot_write(folder, error) from error
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def take_place(temporary: Path, folder: Path) -> None:
    """Give a temporary folder its final name, then remove the folder that had the name."""
    old = _beside(folder, "old")
    try:
        try:
            if _is_empty(folder):
                folder.rmdir()
            elif folder.exists():
                folder.rename(old)
            temporary.rename(folder)
        finally:
            if old.exists() and not folder.exists():
                old.rename(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    _remove_old(folder)


def _tidy(folder: Path, holds: Holds) -> None:
    folder, old = Path(os.path.realpath(folder)), _beside(folder, "old")
    if not holds(old) or holds(folder):
        _remove_old(folder)
    elif not folder.exists() or _is_empty(folder):
        if folder.exists():
            folder.rmdir()
        old.rename(folder)
    # Otherwise another folder has the name, and the old folder may be the only copy: keep it.
    for kind in ("tmp", "gone"):
        shutil.rmtree(_beside(folder, kind), ignore_errors=True)


def _remove_old(folder: Path) -> None:
    """Remove the old folder under another name, because the name `.old` is for complete folders."""
    gone = _beside(folder, "gone")
    shutil.rmtree(gone, ignore_errors=True)
    with suppress(OSError):  # the next process that writes there tries again
        _beside(folder, "old").rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _beside(folder: Path, kind: str) -> Path:
    folder = Path(os.path.realpath(folder))  # the target of a link
    return folder.with_name(f".{folder.name}.{kind}")


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


# ---------------------------------------------------------------- locks


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing in a folder at the same time; a dead process releases the lock.

    Some network file systems (Lustre and NFS, depending on how they are mounted) do not have such locks.
    There the process renews a file, ``.lock.held``, while it works. Other processes wait until the file is
    removed or has not been renewed for two minutes.
    """
    with _locked(folder / ".lock", folder):
        yield


@contextmanager
def locked_name(folder: Path) -> Iterator[None]:
    """Keep other processes from creating, replacing or filling the folder at the same time.

    A lock inside the folder would disappear when the folder is replaced; this one is next to it, and is
    removed at the end.
    """
    folder = folder.resolve()
    if folder.is_dir() and not os.access(folder.parent, os.W_OK):
        yield  # if nothing can be written next to the folder, it cannot be replaced either
        return
    path = _beside(folder, "lock")
    with _locked(path, folder):
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()
    if _WINDOWS:  # an open file cannot be removed there
        with suppress(OSError):
            path.unlink()


@contextmanager
def _locked(path: Path, folder: Path) -> Iterator[None]:
    from filelock import lock_descriptor, unlock_descriptor  # imported only when a folder is written

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "ab")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise cannot_write(folder, error) from error
    with file:
        try:
            is_locked = lock_descriptor(file.fileno(), blocking=False)
        except OSError:  # the file system has no locks
            with _leased(path.with_name(f"{path.name}.held"), folder):
                yield
            return
        # A file that was removed between opening and locking locks nothing.
        if not is_locked or not _is_at(file.fileno(), path):
            raise _busy(folder)
        try:
            yield
        finally:
            with suppress(OSError):
                unlock_descriptor(file.fileno())


@contextmanager
def _leased(path: Path, folder: Path) -> Iterator[None]:
    """Hold a lock that is a file: only one process can make it, and a thread renews it."""
    from filelock import SoftFileLease, Timeout

    lease = SoftFileLease(path, lease_duration=_LEASE, timeout=0, thread_local=False)
    try:
        try:
            lease.acquire()
        except Timeout:
            if not _is_out_of_date(path):
                raise
            # SoftFileLease replaces such a file only where two names can be exchanged, which NFS cannot do.
            lease.break_lock()
            lease.acquire()
    except Timeout as error:
        raise _busy(folder, f" (a lock without an owner ends after {_LEASE:.0f} seconds)") from error
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        yield
    finally:
        lease.release()


def _is_out_of_date(path: Path) -> bool:
    """Return whether a lock's last renewal is older than its validity, by the file system's clock."""
    probe = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        # Opened, because a network file system may cache the time of a file that is only stat'ed.
        with open(path, "rb") as file, open(probe, "wb") as new:
            return os.fstat(new.fileno()).st_mtime - os.fstat(file.fileno()).st_mtime > _LEASE
    except FileNotFoundError:
        return True
    finally:
        with suppress(OSError):
            probe.unlink()


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _busy(folder: Path, hint: str = "") -> ModelError:
    return ModelError(
        f"{folder}: another process is writing there; wait for it, or stop it{hint}", code="locked"
    )
