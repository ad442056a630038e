"""Write docs/charts.md: each chart with the lines that draw it, and when to use it; and its picture in docs/images/charts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import azlatency as az
from azlatency.kit.objects import Chart

DOCS = Path(__file__).parents[1] / "docs"
_HEAD = """# Chart gallery

Every function of `az.charts` draws a frame, with a caption and a text alternative that contains the numbers. A notebook displays the chart; elsewhere,
`chart.save("name.pdf")` writes SVG, PDF or PNG, and `chart.figure` is a matplotlib figure. All examples start with:

```python
{start}
```

## Common arguments

Every function also takes these (`help(az.charts.Options)`):

| argument | meaning |
|---|---|
| `ax=`, `axes=`, `figure=` | your axes, figure or subfigure, which keep their size |
| `title=` | replaces the result in words; `""` for no title |
| `xlim=`, `ylim=`, `log="x"` | limits of the axes; `log=""` makes all linear |
| `palette=` | a seaborn palette, a list of colours, or a colour for each path |
| `width="single"`, `"double"` | one column (3.3 in) or the page (7 in) of a journal |
| `labels=False` | without the numbers beside the marks and the names at lines, for a figure of many small charts (their text alternatives have them) |
| `theme="dark"`, `"print"` | for a dark background; without grid and title, for a paper |

A chart of a page is drawn again with them: `chart.again(width="single")`. No figure is higher than 9 in. Your
`plt.style.context` and `rcParams` override the style of the project.
"""
START = """import azlatency as az

study = az.load("emulated-zones")
runs = az.latency(study)
runs = runs[runs["tool"] == "sockperf"]
estimates = az.summarize(runs, by=["path", "method"])"""


class Example(NamedTuple):
    """A chart: its function, when to use it, and the lines that draw it, the chart in the last one."""

    name: str
    use: str
    code: str


EXAMPLES = (
    Example("forest", "Values with intervals: the typical round trip of each path, with its runs as dots.",
            "dots = runs.assign(estimate=runs[\"median_ns\"])\ncolumns = {\"low\": \"low\", \"high\": \"high\", \"panel\": \"method\", \"row\": \"path\"}\n"
            "az.charts.forest(estimates, \"estimate\", **columns, points=dots, unit=(1e3, \"µs\"))"),
    Example("zone_map", "The round-trip times between a few zones, as a map.",
            "levels = az.stats.placement.widest(az.stats.placement.conditions(study, runs))\n"
            "az.charts.zone_map(az.stats.zone_pairs(study, runs, levels))"),
    Example("matrix", "A value from each row to each column: the round-trip time from each initiator to each zone.",
            "cells = az.asymmetry(runs).cells\n"
            "az.charts.matrix(cells, \"estimate\", row=\"from\", column=\"to\", panel=\"method\")"),
    Example("curves", "Percentiles, on an axis where each further nine has the same width: those that sockperf prints.",
            "labels = runs[[\"path\", \"method\"]]\n"
            "curves = az.stats.printed_quantiles(study.quantiles, study.metrics, labels=labels)\naz.charts.curves(curves, \"estimate\", panel=\"method\", line=\"run_id\", colour=\"path\")"),
    Example("density", "Share of packets up to or above each value: the tail of each run (CCDF).",
            "echoes = az.latency(study).query(\"tool == 'echo'\").head(4)\n"
            "tails = az.stats.tail_by_run.run_tails(study, echoes, limit=1e6)\n"
            "az.charts.density(tails.curve, \"rtt_ns\", panel=\"name\", line=\"run_id\", text=\"name\", slower=True)"),
    Example("course", "Values over time within runs: the round trip of each probe.",
            "echoes = az.latency(study).query(\"tool == 'echo'\").head(4)\n"
            "probes = study.samples[study.samples[\"run_id\"].isin(echoes.index)]\n"
            "probes = probes.assign(path=probes[\"run_id\"].map(echoes[\"path\"]), seconds=probes[\"sent_ns\"] / 1e9)\n"
            "az.charts.course(probes, \"rtt_ns\", panel=\"path\", start=\"seconds\", scale=\"log\")"),
    Example("series", "Values over time, with their levels: whether and when a path changed.",
            "found = az.history(az.load(\"emulated-nights\"))\nchanges = found.changes.assign(text=az.say(found.changes).splitlines())\n"
            "medians = found.points[found.points[\"metric\"] == \"median\"]\n"
            "az.charts.series(medians, \"value\", panel=\"what\", changes=changes)"),
    Example("lines", "Several series per panel over time, on one logarithmic axis: means that IBM published for zones.",
            "windows = az.studies.published_windows(az.load(\"ibm-cloud-zones\"))\n"
            "europe = windows[windows[\"zone\"].str.startswith(\"eu-\") & (windows[\"placement\"] == \"cross_zone\")]\n"
            "pairs = europe.assign(pair=europe[\"zone\"].str[6:11] + \"–\" + europe[\"peer_zone\"].str[6:11])\n"
            "az.charts.lines(pairs, \"mean_ns\", panel=\"region\", line=\"pair\", limits=(1e6, 2e6))"),
)  # fmt: skip


def page(examples: tuple[Example, ...] = EXAMPLES) -> str:
    """Return the text of the page."""
    parts = [_HEAD.format(start=START)]
    for example in examples:
        picture = f"![Example of {example.name}](images/charts/{example.name}.png)"
        parts.append(f"## `{example.name}`\n\n{example.use}\n\n```python\n{example.code}\n```\n\n{picture}\n")
    return "\n".join(parts)


def draw(example: Example, names: dict[str, Any]) -> Chart:
    """Run the lines of an example, and return its chart."""
    *lines, last = example.code.split("\n")
    exec("\n".join(lines), names)
    chart = eval(last, names)
    if not isinstance(chart, Chart):
        raise TypeError(f"{example.name}: {chart}")
    return chart


def start() -> dict[str, Any]:
    """Return the names that all examples use."""
    names: dict[str, Any] = {"az": az}
    exec(START, names)
    return names


if __name__ == "__main__":
    folder = DOCS / "images" / "charts"
    folder.mkdir(exist_ok=True)
    common = start()
    for each in EXAMPLES:
        (folder / f"{each.name}.png").write_bytes(draw(each, dict(common)).png(60))
    (DOCS / "charts.md").write_text(page(), "utf-8")
    sys.stdout.write(f"{len(EXAMPLES)} charts\n")
