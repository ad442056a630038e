"""Write the PowerShell script of a plan, for latte and ntttcp on Windows. All text from outside is quoted."""

from __future__ import annotations

from azlatency.planning.design import WINDOWS_TOOLS, Plan
from azlatency.planning.shell import comment, common_values, environment
from azlatency.studies.format import toml_text

#: PowerShell treats typographic quotes as quotes.
_QUOTES = "'\u2018\u2019\u201a\u201b"
_LATTE_PORT, _NTTTCP_PORT = 5005, 5001
#: latte runs for a number of round trips, not for a time. At an RTT of 1 ms, 1000 round trips take a second.
_ROUND_TRIPS_PER_SECOND = 1000


def powershell_script(plan: Plan) -> str:
    """Return the script, with LF line ends."""
    tools = [tool for tool in plan.tools if tool in WINDOWS_TOOLS]
    measurements = plan.of(tools)
    template = environment()
    template.filters["ps"] = literal
    notes = f"{plan.rounds.number} rounds: {plan.rounds.reason}."
    return str(
        template.get_template("measure.ps1.j2").render(
            **common_values(plan, tools),
            programs=tools,
            digits=max(2, len(str(plan.rounds.number))),
            tools=[_arguments(plan, tool) for tool in tools],
            measurements=[measurement._asdict() for measurement in measurements],
            toml_name=f'name = "{toml_text(comment(plan.study))}"',
            toml_notes=f'notes = "{toml_text(notes)}"',
        )
    )


def _arguments(plan: Plan, tool: str) -> dict[str, str]:
    """Return the arguments of both ends as elements of a PowerShell array; the script fills in the address.

    latte: ``-c`` selects the sender, ``-i`` is the number of round trips. ntttcp: ``-m threads,processors,address``.
    """
    if tool == "latte":
        common = f"'-a', ($Address + ':{_LATTE_PORT}'), '-i', '{_ROUND_TRIPS_PER_SECOND * plan.seconds}'"
        ends = (common, f"'-c', {common}")
    else:
        common = f"'-m', ('1,*,' + $Address), '-t', '{plan.seconds}', '-p', '{_NTTTCP_PORT}'"
        ends = (f"'-r', {common}", f"'-s', {common}")
    return {"name": tool, "program": f"{tool}.exe", "server": ends[0], "client": ends[1]}


def literal(text: str) -> str:
    """Quote a PowerShell string so that nothing in it is expanded; typographic quotes are doubled too."""
    return "'" + "".join(char * 2 if char in _QUOTES else char for char in comment(text)) + "'"
