"""Wrong uses of the library, which no test runs: `make lint` fails if the type checker accepts one of them."""

import azlatency as az

az.doesnotexist()  # type: ignore[attr-defined]
az.load(42)  # type: ignore[arg-type]
runs = az.latency(az.load("x"))
