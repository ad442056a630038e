"""The ground truth of an emulated study, which its charts draw next to the measured values."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from azlatency.studies.emulation import configured_links, sums_of_both_directions

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study


@dataclass(frozen=True)
class Configured:
    """What the links of an emulated network are configured to, by the text of a path; empty for a real network.

    ``rtt`` is the delay of both directions in ns, ``mean_rtt`` the same with the mean of the jitter, ``rate`` the rate
    of the direction in bit/s.
    """

    rtt: Mapping[str, float] = field(default_factory=dict)
    mean_rtt: Mapping[str, float] = field(default_factory=dict)
    rate: Mapping[str, float] = field(default_factory=dict)

    def caption(self, what: str) -> str:
        """Return the caption's sentence on the marks of the ground truth; empty for a real network."""
        if not self.rtt:
            return ""
        return {
            "delay": "Thick mark at the left edge: configured round-trip delay of the path's link, without jitter and "
            "without the time of the hosts.",
            "rtt": "×: configured round-trip delay of the emulated link, without the time of the hosts.",
            "rate": "×: configured rate of the emulated link.",
        }[what]


_EMPTY = Configured()
_configured: ContextVar[Configured] = ContextVar("configured", default=_EMPTY)


def configured() -> Configured:
    """Return the ground truth that charts draw from now on."""
    return _configured.get()


def ground_truth(study: Study | None) -> None:
    """Draw the configured delays and rates of an emulated study in the charts that follow.

    Parameters
    ----------
    study : Study or None
        An imported study. With a study of a real network, or ``None``, charts draw no ground truth.
    """
    links = None if study is None else configured_links(study)
    if links is None or not len(links):
        _configured.set(_EMPTY)
        return
    sums = {
        column: {str(path): delay for path, delay in sums_of_both_directions(links, column).items()}
        for column in ("delay_ns", "mean_ns")
    }
    rates = {str(path): float(links.loc[path, "rate_bit_s"]) for path in links.index}
    _configured.set(Configured(sums["delay_ns"], sums["mean_ns"], rates))
