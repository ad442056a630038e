"""Split of time between more runs and longer runs."""

from __future__ import annotations

import math


def samples_per_run(var_within: float, var_between: float, cost_run: float, cost_sample: float) -> int | None:
    """Return the best number of samples per run.

    Parameters
    ----------
    var_within, var_between : float
        Variances within and between runs, in the same unit.
    cost_run, cost_sample : float
        Costs of one more run and of one more sample, in the same unit (for example seconds).

    Returns
    -------
    int or None
        ``None`` if runs do not differ: then one long run is as good as many.

    Raises
    ------
    ValueError
        If a cost is not positive.

    Notes
    -----
    ceil(sqrt(cost_run / cost_sample * var_within / var_between)): Kalibera & Jones, ISMM 2013.
    """
    if not (cost_run > 0 and cost_sample > 0 and var_within >= 0):
        raise ValueError(f"cost_run = {cost_run}, cost_sample = {cost_sample}, var_within = {var_within}")
    if not var_between > 0:
        return None
    return max(1, math.ceil(math.sqrt(cost_run / cost_sample * var_within / var_between)))
