"""Decoding ahead of the model: processes of their own, so that no file can stop, exhaust or take along the others.

A native decoder can crash or hang on a damaged file, and neither can be caught in its own process. So each decoder is
a child that reads one clip after another; one that dies or stalls fails that clip alone and is replaced. Windows come
one by one, and a bounded number is held, whatever a clip's length.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.util import find_spec
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, Protocol

from ray_tasks.captioning.decode import ClipEnd, Window, read_clip
from ray_tasks.captioning.settings import VideoSettings
from ray_tasks.errors import UsageError

_READY: Final = "ready"
_START_S: Final = 120.0
_LOOK_S: Final = 0.2


class ClipReader(Protocol):
    """Reads clips, one after another."""

    def read(self, path: Path) -> Iterator[Window | ClipEnd]:
        """The windows of a clip, then its end."""
        ...

    def stop(self) -> None:
        """Lets a read that is under way in another thread end soon."""
        ...

    def close(self) -> None:
        """Gives back whatever it holds; called where it was read."""
        ...


class DecoderProcess:
    """A child process that decodes; started when it is first needed, and anew after it died."""

    def __init__(self, settings: VideoSettings) -> None:
        self._settings = settings
        self._child: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None

    def read(self, path: Path) -> Generator[Window | ClipEnd, None, None]:
        """The windows of a clip as they come; a child that dies or gives nothing for `stall_s` ends it as failed."""
        if self._child and self._child.poll() is not None:
            self.close()  # it died while it had nothing to do, which is no clip's fault
        line = self._line or self._start()
        ended = False
        try:
            line.send((path, self._settings))
            while not ended:
                if not line.poll(self._settings.stall_s):
                    yield _failed("decoder_stalled", f"gave no window for {self._settings.stall_s:g} s")
                    return
                item: Window | ClipEnd = line.recv()
                ended = isinstance(item, ClipEnd)
                yield item
        except (EOFError, OSError):
            yield _failed("decoder_crashed", f"brought its decoder down ({_ending(self._child)})")
        finally:
            if not ended:
                self.close()

    def stop(self) -> None:
        """Kills the child, so that whoever listens to it hears its end."""
        child = self._child
        if child:
            child.kill()

    def close(self) -> None:
        """Ends the child, which may be in the midst of a clip."""
        child, line, self._child, self._line = self._child, self._line, None, None
        if child:
            child.kill()
            child.wait()
        if line:
            line.close()

    def _start(self) -> Connection:
        """Starts the child and waits until it listens; raises RuntimeError where it does not."""
        ours, theirs = Pipe()
        place = theirs.fileno()
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, "-m", "ray_tasks.captioning.decoders", str(place)]
        self._child = subprocess.Popen(command, pass_fds=(place,), stdin=subprocess.DEVNULL, env=env)
        self._line = ours
        theirs.close()
        try:
            if ours.poll(_START_S) and ours.recv() == _READY:
                return ours
        except (EOFError, OSError):
            pass  # told below, with how it ended
        how = _ending(self._child)
        self.close()
        raise RuntimeError(f"a decoder of video did not start ({how})")


@asynccontextmanager
async def decoding(
    clips: Sequence[Path], readers: Sequence[ClipReader], held: int
) -> AsyncIterator[tuple[AsyncIterator[tuple[int, Window | ClipEnd]], threading.Semaphore]]:
    """Windows and ends of clips, with the index of their clip, as the readers give them, and the places for windows.

    At most `held` windows are about: whoever is done with one releases its place. Readers are stopped and closed at
    the end, whatever happened.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[tuple[int, Window | ClipEnd] | BaseException | None] = asyncio.Queue()
    places, stopped = threading.Semaphore(held), threading.Event()
    waiting = iter(enumerate(clips))
    lock = threading.Lock()

    def tell(item: tuple[int, Window | ClipEnd] | BaseException | None) -> None:
        if not stopped.is_set():
            loop.call_soon_threadsafe(arrived.put_nowait, item)

    def work(reader: ClipReader) -> None:
        try:
            while not stopped.is_set():
                with lock:
                    index, path = next(waiting, (-1, Path()))
                if index < 0:
                    break
                for item in reader.read(path):
                    while isinstance(item, Window) and not stopped.is_set() and not places.acquire(timeout=_LOOK_S):
                        pass
                    tell((index, item))
                    if stopped.is_set():
                        break
            tell(None)
        except BaseException as error:  # noqa: BLE001 - raised again where the windows are taken
            tell(error)
        finally:
            reader.close()

    async def items() -> AsyncIterator[tuple[int, Window | ClipEnd]]:
        working = len(readers)
        while working:
            item = await arrived.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                working -= 1
            else:
                yield item

    with ThreadPoolExecutor(len(readers), thread_name_prefix="decoder") as threads:
        try:
            for reader in readers:
                threads.submit(work, reader)
            yield items(), places
        finally:
            stopped.set()
            for reader in readers:
                reader.stop()


def check_decoder() -> None:
    """Raises UsageError where the packages that decode video are not installed."""
    missing = [name for module, name in (("av", "av"), ("PIL", "pillow")) if find_spec(module) is None]
    if missing:
        raise UsageError(f"captioning from video needs {' and '.join(missing)}: pip install {' '.join(missing)}")


def _failed(kind: str, detail: str) -> ClipEnd:
    return ClipEnd(failed=kind, oddities=((kind, f"{detail}; what it gave before is used"),))


def _ending(child: subprocess.Popen[bytes] | None) -> str:
    """How a child that is no longer heard of ended."""
    if child is None:
        return "it was stopped"
    try:
        code = child.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return "it does not answer"
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _serve(line: Connection) -> None:
    """The child's life: clips as they are asked for, until nobody asks any more."""
    import av  # noqa: F401 - what takes long to load is there before the first clip

    line.send(_READY)
    try:
        while True:
            path, settings = line.recv()
            for item in read_clip(path, settings):
                line.send(item)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # whoever asked is gone


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
