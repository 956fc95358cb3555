"""The first import: the catalogue that is installed with botocore, read by a process of its own.

A process, because botocore keeps every model it has read, and because Ray starts beside it on the other core.
"""

import multiprocessing
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sqlalchemy import URL

from cluster.errors import ClusterError, UnreadableSource
from cluster.importers.botocore import read_botocore
from cluster.importers.source import Defaults
from cluster.importing import ImportReport, Phase, Progress, run_import
from cluster.registry import Registry
from serve_app.record_wire import parse_record
from shards.record import SHARED_TENANT

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_LOOK_S: Final = 0.2

_Message = tuple[Phase, float, str] | ImportReport | ClusterError


def import_embedded(url: str | URL, progress: Progress, stop: Callable[[], bool]) -> ImportReport | None:
    """Fill an empty registry; all of the catalogue or nothing.

    Args:
        url: of the registry.
        progress: told what is being done.
        stop: asked now and then; True breaks the import off.

    Returns:
        None where the registry was not empty, or ``stop`` said so.

    Raises:
        UnreadableSource: if botocore is not installed, or the process ended without a word.
        RegistryUnavailable: if the registry cannot be opened or written.
    """
    registry = Registry(url)
    try:
        if registry.last_seq() > 0:
            return None
    finally:
        registry.close()
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_import, args=(url, writer), daemon=True)
    process.start()
    # Its only writer is the child from now on, so that the child's end is the end of the pipe.
    writer.close()
    try:
        return _follow(reader, progress, stop)
    finally:
        process.terminate()
        process.join()


def _follow(reader: "Connection[None, _Message]", progress: Progress, stop: Callable[[], bool]) -> ImportReport | None:
    while not stop():
        if not reader.poll(_LOOK_S):
            continue
        try:
            message = reader.recv()
        except EOFError as exc:
            raise UnreadableSource("botocore", "the import process ended without a report") from exc
        match message:
            case ImportReport():
                return message
            case ClusterError():
                raise message
            case (phase, share, label):
                progress(phase, share, label)
    return None


def _import(url: str | URL, writer: "Connection[_Message, None]") -> None:
    """The child: import, and tell the parent."""
    # Ctrl-C reaches the whole group; the parent decides and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def tell(phase: Phase, share: float, label: str) -> None:
        writer.send((phase, share, label))

    registry = Registry(url)
    try:
        writer.send(run_import(registry, read_botocore(), parse_record, Defaults(tenant=SHARED_TENANT), tell))
    except ClusterError as exc:
        writer.send(exc)
    finally:
        registry.close()
