"""A list of any length, of which all but the last items move into a temporary file, and a mapping like that."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from functools import cache
from itertools import chain, islice, pairwise
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import sqlite3

    import msgspec

#: So many items move into the file together, and are in memory together when they are read.
BLOCK = 2**12
Item = TypeVar("Item")


class Stored(Generic[Item]):
    """Items in a file, which are built anew whenever they are read, so that a change of one is lost.

    Parameters
    ----------
    items : list
        The items.
    file : binary file
        Where they are written, at the end; it is closed with the last reference to it.
    item_type : type
        The dataclass or named tuple of the items, which is read faster if it is known; for dictionaries None.
    """

    def __init__(self, items: list[Item], file: IO[bytes], item_type: type[Item] | None = None) -> None:
        content = None if item_type is None else _encode(items)
        if content is None:
            item_type, content = None, pickle.dumps(items, pickle.HIGHEST_PROTOCOL)
        self._type, self.file, self._count, self._size = item_type, file, len(items), len(content)
        self._start = file.seek(0, 2)
        if file.write(content) != self._size:
            raise OSError("the disk with the temporary files is full")

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Item]:
        return iter(self.load())

    def load(self) -> list[Item]:
        """Return the items."""
        self.file.seek(self._start)
        content = self.file.read(self._size)
        if self._type is not None:
            return _decoder(self._type).decode(content)  # type: ignore[arg-type]
        items: list[Item] = pickle.loads(content)  # a file without a name, of this process
        return items

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self.load(),)  # for another process


def _encode(items: list[Any]) -> bytes | None:
    """Return items as bytes; None if a number in them, which a log may print, has more than 64 bits."""
    import msgspec

    try:
        return msgspec.msgpack.encode(items)
    except OverflowError:
        return None


@cache
def _decoder(item_type: type[Item]) -> msgspec.msgpack.Decoder[list[Item]]:
    import msgspec

    return msgspec.msgpack.Decoder(list[item_type])  # type: ignore[valid-type]


class Index(Generic[Item]):
    """A mapping of any size: most of its items, whose keys are all numbers or all texts, move into a database."""

    def __init__(self) -> None:
        self._recent: dict[int | str | bytes, Item] = {}
        self._stored: sqlite3.Connection | None = None

    def get(self, key: int | str | bytes) -> Item | None:
        """Return an item; None if there is none."""
        found = self._recent.get(key)
        if found is None and self._stored is not None:
            for (content,) in self._stored.execute("SELECT item FROM items WHERE key = ?", (key,)):
                found = pickle.loads(content)
        return found

    def __setitem__(self, key: int | str | bytes, item: Item) -> None:
        self._recent[key] = item
        if len(self._recent) < 8 * BLOCK:
            return
        if self._stored is None:
            import sqlite3

            self._stored = sqlite3.connect("", isolation_level=None)  # a file without a name, closed with the index
            self._stored.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA cache_size = -8192;"
                "CREATE TABLE items (key PRIMARY KEY, item) WITHOUT ROWID;"
            )
        rows = [(key, pickle.dumps(item)) for key, item in sorted(self._recent.items())]
        self._stored.execute("BEGIN")
        self._stored.executemany("INSERT OR REPLACE INTO items VALUES (?, ?)", rows)
        self._stored.execute("COMMIT")
        self._recent.clear()


class Spool(MutableSequence[Item]):
    """A list whose items move into a temporary file, in blocks, except for those that were added last.

    Iterating builds the items of one block at a time. Only `edit` changes an item in the file.

    Parameters
    ----------
    items : list
        The first items.
    item_type : type
        See `Stored`.
    settles : bool
        Whether items move once there are many. Otherwise those may be changed for which `settle` was not called.
    """

    def __init__(
        self, items: list[Item] | None = None, item_type: type[Item] | None = None, *, settles: bool = True
    ) -> None:
        self._parts: list[Any] = [[] if items is None else items]
        self._earlier = 0  # items before the last part
        self._type, self._settles = item_type, settles

    def add_part(self, part: Any) -> None:
        """Add items that anything with a length yields whenever it is iterated over."""
        self._earlier += len(self._parts[-1])
        self._parts.append(part)

    def __len__(self) -> int:
        return self._earlier + len(self._parts[-1])

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(self._parts)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Spool | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def append(self, value: Item) -> None:
        """Add an item; it may be changed until the next one is added."""
        if not isinstance(last := self._parts[-1], list):
            self.add_part([value])
            return
        if self._settles and len(last) >= BLOCK:
            self.settle(len(last))
            last = self._parts[-1]
        last.append(value)

    def tail(self) -> list[Item]:
        """Return the items at the end that are in memory and may be changed."""
        last = self._parts[-1]
        return last if isinstance(last, list) else []

    def settle(self, count: int, *, whole_blocks: bool = True) -> None:
        """Move the first ``count`` items of `tail`, which nobody changes any more, into the file, in blocks."""
        last = self.tail()
        whole = count - count % BLOCK if whole_blocks else count
        if whole:
            file = next((part.file for part in self._parts if isinstance(part, Stored)), None)
            file = file or tempfile.TemporaryFile(prefix="azlatency-")  # noqa: SIM115  # closed with the last block
            ends = [*range(BLOCK, whole, BLOCK), whole]
            blocks = [Stored(last[start:end], file, self._type) for start, end in pairwise((0, *ends))]
            self._parts[-1:] = [*blocks, last[whole:]]
            self._earlier += whole

    def edit(self, function: Callable[[Item], bool], start: int = 0) -> None:
        """Apply a function to the items from ``start`` on; it changes the item and returns whether it did."""
        first = self._earlier if start >= self._earlier else 0
        for number in [len(self._parts) - 1] if first else range(len(self._parts)):
            part, count = self._parts[number], len(self._parts[number])
            if first + count > start:
                items = part if isinstance(part, list) else list(part)
                changes = [function(item) for item in items[max(start - first, 0) :]]
                if any(changes) and items is not part:
                    self._parts[number] = Stored(items, part.file, self._type) if isinstance(part, Stored) else items
            first += count

    def _built(self) -> list[Item]:
        """Return all items, which stay in memory."""
        if len(self._parts) > 1 or not isinstance(self._parts[0], list):
            self._parts, self._earlier = [list(self)], 0
        built: list[Item] = self._parts[0]
        return built

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if index == -1 and isinstance(last := self._parts[-1], list) and last:
            return last[-1]
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
        else:
            start, step = range(len(self))[index], 1
            stop = start + 1
        if start >= self._earlier and isinstance(self._parts[-1], list):
            found: list[Item] = self._parts[-1][start - self._earlier : max(stop - self._earlier, 0) : step]
        elif any(isinstance(part, Stored) for part in self._parts):
            found = list(islice(self, start, stop, step))
        else:
            found = self._built()[start:stop:step]
        return found if isinstance(index, slice) else found[0]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._built()[index] = value

    def __delitem__(self, index: int | slice) -> None:
        del self._built()[index]

    def clear(self) -> None:
        """Remove all items, without building them."""
        self._parts, self._earlier = [[]], 0

    def pop_last(self) -> Item:
        """Remove the item that was added last, and return it."""
        return self._parts[-1].pop() if self.tail() else self._built().pop()

    def insert(self, index: int, value: Item) -> None:
        """Add an item before the one with this index."""
        if index < len(self):
            self._built().insert(index, value)
        else:
            self.append(value)

    def extend(self, values: Iterable[Item]) -> None:
        """Add items."""
        if isinstance(values, Spool):
            for part in list(values._parts):  # which are not built
                self.add_part(list(part) if isinstance(part, list) else part)
            return
        for value in values:
            self.append(value)


def edit(items: Sequence[Item], function: Callable[[Item], bool], start: int = 0) -> None:
    """Apply a function that changes items, and returns whether it did, to a list or a `Spool`."""
    if isinstance(items, list):
        for item in items[start:]:
            function(item)
    elif isinstance(items, Spool):
        items.edit(function, start)


def remove(items: MutableSequence[Item], item: Item) -> None:
    """Remove an item that is in memory, and that usually is one of the last, from a list or a `Spool`."""
    for part in reversed(items._parts) if isinstance(items, Spool) else [items]:
        if isinstance(part, list):
            for index in reversed(range(len(part))):
                if part[index] is item:
                    del part[index]
                    if isinstance(items, Spool):
                        items._earlier -= part is not items._parts[-1]
                    return
