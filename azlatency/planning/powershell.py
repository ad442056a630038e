"""A plan -> the PowerShell script for latte and ntttcp on Windows. Every text from outside is a literal string."""

from __future__ import annotations

from azlatency import __version__
from azlatency.planning.design import WINDOWS_TOOLS, Plan
from azlatency.planning.shell import about, comment, environment, toml

#: PowerShell takes typographic quotes for quotes.
_QUOTES = "'\u2018\u2019\u201a\u201b"
_LATTE_PORT, _NTTTCP_PORT = 5005, 5001
#: Round trips of one run of latte in a second of the time asked for: at 1 ms they take as long as that.
_PER_SECOND = 1000


def powershell_script(plan: Plan) -> str:
    """The whole script, with line feeds only."""
    tools = [tool for tool in plan.tools if tool in WINDOWS_TOOLS]
    measurements = plan.of(tools)
    template = environment()
    template.filters["ps"] = literal
    notes = f"{plan.rounds.number} rounds: {plan.rounds.reason}."
    return str(
        template.get_template("measure.ps1.j2").render(
            **about(plan, tools),
            programs=tools,
            digits=max(2, len(str(plan.rounds.number))),
            tools=[_words(plan, tool) for tool in tools],
            measurements=[each._asdict() for each in measurements],
            toml_name=f"name = {toml(comment(plan.study))}",
            toml_source=f"source = {toml(f'azlatency plan {__version__}, seed {plan.seed}')}",
            toml_notes=f"notes = {toml(notes)}",
        )
    )


def _words(plan: Plan, tool: str) -> dict[str, str]:
    """The arguments of both ends as elements of an array; the address is filled in by the script.

    latte: ``-c`` makes the sender, ``-i`` counts round trips. ntttcp: ``-m threads,processors,address``.
    """
    if tool == "latte":
        common = f"'-a', ($Address + ':{_LATTE_PORT}'), '-i', '{_PER_SECOND * plan.seconds}'"
        ends = (common, f"'-c', {common}")
    else:
        common = f"'-m', ('1,*,' + $Address), '-t', '{plan.seconds}', '-p', '{_NTTTCP_PORT}'"
        ends = (f"'-r', {common}", f"'-s', {common}")
    return {"name": tool, "program": f"{tool}.exe", "server": ends[0], "client": ends[1]}


def literal(text: str) -> str:
    """A single-quoted PowerShell string, in which nothing is expanded; typographic quotes are doubled too."""
    return "'" + "".join(char * 2 if char in _QUOTES else char for char in comment(text)) + "'"
