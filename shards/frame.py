"""Frame: one message between two processes as bytes: a little header, then one contiguous section per kind of value.

It knows numbers, texts and arrays and none of our messages: what follows what is ``shards.packing``'s knowledge. Both
ends run on machines of one byte order, which the header's mark proves.
"""

import struct
from array import array
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from shards.errors import MalformedMessage

_MARK: Final = 0x5302
"""Changes with every change of the layout of any message."""

_HEADER: Final = struct.Struct("=HHI8I")
"""Mark, kind, messages, then the length of each section in bytes."""

_DTYPES: Final = tuple(map(np.dtype, (np.int64, np.uint64, np.int32, np.int16, np.uint8)))
_ALIGNMENT: Final = 8
_PADDING: Final = tuple(bytes(-length % _ALIGNMENT) for length in range(_ALIGNMENT))


class FrameWriter:
    """Collects the values of a frame, each kind in its own list; the order inside a list is the reader's order.

    Attributes:
        numbers: integers of 64 bits.
        texts: any texts, lone surrogates too.
        longs, hashes, ints, shorts, octets: contiguous arrays of int64, uint64, int32, int16 and uint8.
        blobs: bytes whose lengths stand in ``numbers``.
    """

    __slots__ = ("blobs", "hashes", "ints", "longs", "numbers", "octets", "shorts", "texts")

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.texts: list[str] = []
        # Any: NumPy does not declare that its arrays are buffers.
        self.longs: list[Any] = []
        self.hashes: list[Any] = []
        self.ints: list[Any] = []
        self.shorts: list[Any] = []
        self.octets: list[Any] = []
        self.blobs: list[bytes] = []

    def packed(self, kind: int, messages: int) -> bytes:
        """The frame."""
        sections = (
            array("q", self.numbers).tobytes(),
            array("I", map(len, self.texts)).tobytes(),
            "".join(self.texts).encode("utf-8", "surrogatepass"),
            *(b"".join(arrays) for arrays in (self.longs, self.hashes, self.ints, self.shorts, self.octets)),
        )
        pieces: list[bytes] = [_HEADER.pack(_MARK, kind, messages, *map(len, sections))]
        for section in sections:
            pieces += (section, _PADDING[len(section) % _ALIGNMENT])
        return b"".join(pieces + self.blobs)


class FrameReader:
    """Takes the values of a frame in the order in which they were collected; arrays are read-only views of it.

    Raises:
        MalformedMessage: by any method, where the frame does not hold what is asked for.
    """

    def __init__(self, frame: bytes, kind: int) -> None:
        if len(frame) < _HEADER.size:
            raise MalformedMessage("frame", f"{len(frame)} bytes are no header")
        mark, found, self.messages, *lengths = _HEADER.unpack_from(frame)
        if (mark, found) != (_MARK, kind):
            raise MalformedMessage("frame", f"mark {mark:#x} and kind {found}, expected {_MARK:#x} and {kind}")
        ends = list(accumulate((length + -length % _ALIGNMENT for length in lengths), initial=_HEADER.size))
        if ends[-1] > len(frame):
            raise MalformedMessage("frame", f"{len(frame)} bytes, expected {ends[-1]} or more")
        self._frame = frame
        self._blob = ends[-1]
        try:
            self._numbers: list[int] = np.frombuffer(frame, np.int64, lengths[0] // 8, ends[0]).tolist()
            sizes = np.frombuffer(frame, np.uint32, lengths[1] // 4, ends[1]).tolist()
            text = str(frame[ends[2] : ends[2] + lengths[2]], "utf-8", "surrogatepass")
        except ValueError as exc:
            raise MalformedMessage("frame", repr(exc)) from exc
        bounds = list(accumulate(sizes, initial=0))
        if bounds[-1] != len(text):
            raise MalformedMessage("frame", f"texts of {len(text)} characters, expected {bounds[-1]}")
        self._texts = tuple([text[start:end] for start, end in pairwise(bounds)])
        self._arrays = [
            np.frombuffer(frame, dtype, length // dtype.itemsize, end)
            for dtype, length, end in zip(_DTYPES, lengths[3:], ends[3:], strict=False)
        ]
        self._number = self._text = 0
        self._places = [0] * len(_DTYPES)

    def numbers(self, count: int) -> list[int]:
        """The next integers."""
        start = self._number
        self._number = end = start + count
        if not start <= end <= len(self._numbers):
            raise _too_short(len(self._numbers), end)
        return self._numbers[start:end]

    def texts(self, count: int) -> tuple[str, ...]:
        """The next texts."""
        start = self._text
        self._text = end = start + count
        if not start <= end <= len(self._texts):
            raise _too_short(len(self._texts), end)
        return self._texts[start:end]

    def longs(self, count: int) -> npt.NDArray[np.int64]:
        """int64[count]."""
        array: npt.NDArray[np.int64] = self._array(0, count)
        return array

    def hashes(self, count: int) -> npt.NDArray[np.uint64]:
        """uint64[count]."""
        array: npt.NDArray[np.uint64] = self._array(1, count)
        return array

    def ints(self, count: int) -> npt.NDArray[np.int32]:
        """int32[count]."""
        array: npt.NDArray[np.int32] = self._array(2, count)
        return array

    def shorts(self, count: int) -> npt.NDArray[np.int16]:
        """int16[count]."""
        array: npt.NDArray[np.int16] = self._array(3, count)
        return array

    def octets(self, count: int) -> npt.NDArray[np.uint8]:
        """uint8[count]."""
        array: npt.NDArray[np.uint8] = self._array(4, count)
        return array

    def blob(self, length: int) -> bytes:
        """The next bytes."""
        start = self._blob
        self._blob = end = start + length
        if not start <= end <= len(self._frame):
            raise _too_short(len(self._frame), end)
        return self._frame[start:end]

    def close(self) -> None:
        """The end of the frame: nothing may be left in it."""
        left = (
            len(self._numbers) - self._number,
            len(self._texts) - self._text,
            *(len(array) - place for array, place in zip(self._arrays, self._places, strict=True)),
            len(self._frame) - self._blob,
        )
        if any(left):
            raise MalformedMessage("frame", f"{left} values are left")

    def _array(self, kind: int, count: int) -> Any:  # noqa: ANN401 -- one of five dtypes
        start = self._places[kind]
        array = self._arrays[kind]
        self._places[kind] = end = start + count
        if not start <= end <= len(array):
            raise _too_short(len(array), end)
        return array[start:end]


def _too_short(held: int, end: int) -> MalformedMessage:
    return MalformedMessage("frame", f"{held} values, expected {end} or more")
