"""The tables of logs that a command parsed before, so that the next command need not parse them again.

``azlatency parse``, ``check``, ``import`` and ``compare`` share one SQLite file in the user's cache folder. An entry
belongs to the bytes of a log, the tool that the user stated, the name of the file (which two formats need) and the
version of the parsers. The cache is only a saving of time: if it cannot be read or written, logs are parsed.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from azlatency.logs.parse import parse_source
from azlatency.logs.parsers import parser_version
from azlatency.logs.record import SampleBlock
from azlatency.logs.source.decode import Source
from azlatency.logs.source.large import Repeated
from azlatency.logs.tables import Logs, sample_tables

#: Largest size of all entries in bytes; the entries that were not used for the longest time are removed beyond it.
LARGEST = 500 * 1024**2
#: Larger logs are parsed again: their tables are large as well, and an import keeps them.
_LARGEST_LOG = 16 * 1024**2
#: So are those of logs with a table of more rows.
_MOST_ROWS = 2**16
_WRITTEN_TOGETHER = 500
_SECONDS_TO_WAIT = 1.0
_TABLE = "CREATE TABLE IF NOT EXISTS tables (key TEXT PRIMARY KEY, content BLOB, size INTEGER, used REAL)"


class Cache:
    """Tables of logs by their content, in a SQLite file."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._connection = sqlite3.connect(file, timeout=_SECONDS_TO_WAIT, isolation_level=None)
        self._connection.execute("PRAGMA auto_vacuum = FULL")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute(_TABLE)
        self._new: dict[str, bytes] = {}
        self._used: list[str] = []

    def parse(self, source: Source, tool: str | None = None) -> Logs:
        """Return the tables of a source, parsed now or before."""
        if source.size_bytes > _LARGEST_LOG:
            return parse_source(source, tool=tool)
        name = source.path.replace("!", "/").rpartition("/")[2].lower()
        key = f"{source.sha256} {tool or ''} {parser_version()} {name}"
        if (logs := _unpacked(self._read(key), source)) is not None:
            self._used.append(key)
            return logs
        logs = parse_source(source, tool=tool)
        if max(map(len, logs.rows.values())) > _MOST_ROWS:
            return logs
        with suppress(OverflowError, TypeError):  # a number that does not fit is not worth a format of its own
            self._new[key] = _packed(logs)
        if len(self._new) >= _WRITTEN_TOGETHER:
            self.write()
        return logs

    def _read(self, key: str) -> bytes | None:
        if key in self._new:
            return self._new[key]
        with suppress(sqlite3.Error):
            row = self._connection.execute("SELECT content FROM tables WHERE key = ?", (key,)).fetchone()
            return None if row is None else bytes(row[0])
        return None

    def write(self) -> None:
        """Write the new entries, and remove old ones beyond the largest size."""
        rows = [(key, content, len(content), time.time()) for key, content in self._new.items()]
        with suppress(sqlite3.Error):
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO tables VALUES (?, ?, ?, ?)", rows)
            used = [(time.time(), key) for key in self._used]
            self._connection.executemany("UPDATE tables SET used = ? WHERE key = ?", used)
            self._remove_oldest()
            self._connection.execute("COMMIT")
        self._new.clear()
        self._used.clear()

    def _remove_oldest(self) -> None:
        pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        (total,) = self._connection.execute(pages).fetchone()  # a sum of sizes would read every entry
        if total <= LARGEST:
            return
        entries = self._connection.execute("SELECT key, size FROM tables ORDER BY used").fetchall()
        for key, size in entries:
            self._connection.execute("DELETE FROM tables WHERE key = ?", (key,))
            if (total := total - size) <= 0.8 * LARGEST:
                return

    def close(self) -> None:
        """Write what is new and close the file."""
        if self._new or self._used:
            self.write()
        self._connection.close()


_active: Cache | None = None


def parse_cached(source: Source, tool: str | None = None) -> Logs:
    """Parse a source; inside of `cached`, tables that were parsed before are used."""
    return parse_source(source, tool=tool) if _active is None else _active.parse(source, tool)


@contextmanager
def cached(file: Path | None = None) -> Iterator[None]:
    """Let `parse_cached` use the user's cache, or another file, while the context lasts."""
    global _active  # noqa: PLW0603
    try:
        cache = Cache(file or default_file())
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):  # damaged; the next command starts a new one
                (file or default_file()).unlink()
        yield
        return
    _active = cache
    try:
        yield
    finally:
        _active = None
        with suppress(sqlite3.Error):
            cache.close()


@contextmanager
def uncached() -> Iterator[None]:
    """Let `parse_cached` parse every source while the context lasts."""
    global _active  # noqa: PLW0603
    cache, _active = _active, None
    try:
        yield
    finally:
        _active = cache


def default_file() -> Path:
    """Return the file in the user's cache folder; ``AZLATENCY_CACHE`` names another folder."""
    from platformdirs import user_cache_path

    return Path(os.environ.get("AZLATENCY_CACHE") or user_cache_path("azlatency", False)) / "parsed-logs.sqlite"


def _packed(logs: Logs) -> bytes:
    import msgspec

    blocks = [
        {"run_id": block.run_id, "tool": block.tool, **{name: _column(block, name) for name in _COLUMNS}}
        for block in logs.sample_blocks
    ]
    return zlib.compress(msgspec.msgpack.encode([logs.rows, blocks], enc_hook=list), 1)


_COLUMNS = ("seq", "sent_ns", "rtt_ns", "status", "low_ns", "high_ns")


def _column(block: SampleBlock, name: str) -> list[Any] | None:
    values = getattr(block, name)
    if values is None or isinstance(values, list):
        return values
    if isinstance(values, array | range | Repeated):
        return list(values)
    return [value for table in sample_tables([block]) for value in table[name].to_pylist()]


def _unpacked(content: bytes | None, source: Source) -> Logs | None:
    """Return the tables in an entry; None without an entry or if it is damaged."""
    import msgspec

    if content is None:
        return None
    try:
        rows, blocks = msgspec.msgpack.decode(zlib.decompress(content))
        # Bytes that were read before under another path, at another time.
        rows["sources"][0] |= {"path": source.path, "imported_at": datetime.now(UTC).replace(microsecond=0)}
        return Logs(rows, [SampleBlock(**block) for block in blocks])
    except (zlib.error, msgspec.MsgspecError, LookupError, TypeError, ValueError):
        return None
