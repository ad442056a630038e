"""A Parquet file as the text of a CSV file with the same rows: line 1 has the headings, line 2 the first row."""

from __future__ import annotations

import io
from typing import IO

from azlatency.logs.source.decode import SourceError
from azlatency.logs.source.large import LARGEST_WHOLE

#: Every Parquet file begins with these bytes.
MAGIC = b"PAR1"
#: Rows that are in memory at once: a few of them may hold long texts many times.
_BATCH = 1000


def parquet_as_text(file: IO[bytes], shown: str) -> bytes:
    """Return the rows of a Parquet file as CSV; raise `SourceError` for one that is damaged, nested or too large."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    text = io.BytesIO()
    try:
        table = pq.ParquetFile(file)
        durations = [field.name for field in table.schema_arrow if pa.types.is_duration(field.type)]
        if durations:
            raise SourceError(f"{shown}:1: {durations[0]!r:.60} is a duration; write it as a number, and its unit")
        with csv.CSVWriter(text, table.schema_arrow) as writer:
            for batch in table.iter_batches(_BATCH):
                writer.write_batch(batch)
                if text.tell() > LARGEST_WHOLE:
                    raise SourceError(f"{shown}:1: more than {LARGEST_WHOLE} bytes as text; split the table")
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"{shown}:1: no Parquet file of plain columns: {str(error)[:200]}; write it as CSV") from None
    return text.getvalue()
