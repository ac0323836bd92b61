"""Files and folders of this machine, as a store in a folder needs them."""

from __future__ import annotations

import contextlib
import errno
import os
from io import BufferedWriter
from pathlib import Path
from typing import Final

_REMEDIES: Final = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space there or choose another --root"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "grant access to it or choose another --root"),
    errno.EFBIG: "raise the limit on the size of files (ulimit -f) or choose another --root",
    errno.EIO: "the disk has a fault: choose another --root",
    errno.ENOLCK: "this file system has no locks: choose another --root",
}
_TURNS: Final = 100
"""How often a folder is made again for a writer whose folder others keep removing."""


def create_file(path: Path) -> BufferedWriter:
    """A new file; its folder is made where it is missing, again if somebody who emptied it has just removed it."""
    for _ in range(_TURNS):
        try:
            return path.open("xb")
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError, FileNotFoundError):  # removed while it was made
                path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("xb")


def flush_folder(folder: Path) -> None:
    """Makes the names in a folder outlast a power cut, on file systems where that takes a call of its own."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return  # somebody has just deleted the last object in it
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # a network file system that flushes names by itself
            raise
    finally:
        os.close(handle)


def remedy_for(error: OSError) -> str:
    remedy = _REMEDIES.get(error.errno or 0)
    return f"; {remedy}" if remedy else ""
