"""From raw bytes to tables: decoding, recognising and parsing logs. Knows neither studies nor statistics."""
