"""The tables of the data set: the names, types and units of their columns.

Parsers write these tables; files, statistics and users read them. Times are in nanoseconds, sizes in bytes, rates in
bit/s, fractions between 0 and 1; latencies are round-trip times, whatever the tool prints. The declaration needs no
pyarrow, so that the command line starts fast; `arrow_schema` builds the pyarrow schema from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "FRAMES",
    "MANIFEST_COLUMNS",
    "TABLES",
    "UNCOUNTED",
    "Column",
    "arrow_schema",
    "describe",
    "document",
    "names",
]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Name of the column.
    type : str
        ``"string"``, ``"int64"``, ``"float64"``, ``"bool"`` or ``"timestamp"``.
    unit : str
        Unit of the values; empty if they have none.
    source : str
        Where the values come from: ``"log"`` (its text), ``"file"`` (its bytes and lines), ``"manifest"``,
        ``"import"`` or ``"computed"``; several are separated by commas.
    doc : str
        Description in a sentence.
    """

    name: str
    type: str
    unit: str
    source: str
    doc: str

    def __str__(self) -> str:
        unit = f" Unit: {self.unit}." if self.unit else ""
        return f"{self.doc}{unit} Source: {self.source}."


class ColumnTexts(dict[str, str]):
    """The texts of the columns of a frame. They cannot change: pandas would copy them at each operation if they could."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("the texts of columns cannot be changed; change a copy: dict(frame.attrs['columns'])")

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = setdefault = clear = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> ColumnTexts:
        return self

    def __reduce__(self) -> tuple[type[ColumnTexts], tuple[dict[str, str]]]:
        return ColumnTexts, (dict(self),)


def _columns(text: str) -> tuple[Column, ...]:
    """Parse lines of the form ``name | type | unit | source | description``."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    return tuple(Column(*row) for row in rows)


#: Facts about a run that a manifest contains, and a few tools print; every name is also a key of study.toml and a column of runs.csv.
MANIFEST_COLUMNS = _columns("""
study                  | string |  | manifest | Folder of the study.
scenario               | string |  | manifest | The author's name for what was compared.
repeat                 | int64  |  | manifest | Repetition of the same test, from 1.
round                  | int64  |  | manifest | Round of the whole plan, from 1.
label                  | string |  | manifest | For a history: commit, image or kernel in use.
subscription           | string |  | manifest | Subscription or account whose zone numbers are used.
region                 | string |  | manifest, log | Region of the client.
zone                   | string |  | manifest, log | Logical zone of the client, comparable within one subscription only.
physical_zone          | string |  | manifest | Physical zone of the client, comparable between subscriptions.
peer_region            | string |  | manifest, log | Region of the server.
peer_zone              | string |  | manifest, log | Logical zone of the server, comparable within one subscription only.
peer_physical_zone     | string |  | manifest | Physical zone of the server, comparable between subscriptions.
vm_size                | string |  | manifest, log | VM size of the client.
peer_vm_size           | string |  | manifest, log | VM size of the server.
accelerated_networking | bool   |  | manifest | Whether accelerated networking is enabled.
placement              | string |  | manifest, log | Placement of the two ends: same_host, availability_set, same_zone and so on.
notes                  | string |  | manifest | Remarks of the manifest about this log.
""")

#: The tables of logs and studies: name -> columns.
TABLES: dict[str, tuple[Column, ...]] = {
    "sources": _columns("""
        source_id      | string    |       | file   | First 16 hex digits of the SHA-256 of the bytes, and of the times or numbers in the path that tell equal files apart.
        path           | string    |       | import | Path as given, relative where possible; archive members after '!'.
        sha256         | string    |       | file   | SHA-256 of the file as it is, packed or not.
        size_bytes     | int64     | bytes | file   | Size of the unpacked file.
        encoding       | string    |       | file   | Text encoding.
        lines          | int64     |       | file   | Lines in total.
        lines_data     | int64     |       | file   | Lines with a stored number or fact.
        lines_known    | int64     |       | file   | Lines of the tool with nothing to store.
        lines_blank    | int64     |       | file   | Blank lines.
        lines_prose    | int64     |       | file   | Lines around the logs of a transcript or notes file.
        lines_unknown  | int64     |       | file   | Lines inside a log that no rule matches.
        imported_at    | timestamp |       | import | Time of the import, in UTC.
        parser_version | string    |       | import | Version of the parsers.
    """),
    "runs": (
        *_columns("""
        run_id                | string    |       | computed | Key of the run: source_id and a number.
        source_id             | string    |       | file     | File that contains the log.
        first_line            | int64     |       | file     | First line of the log, from 1.
        last_line             | int64     |       | file     | Last line of the log, from 1.
        tool                  | string    |       | log      | Tool that wrote the log.
        tool_version          | string    |       | log      | Version of the tool.
        dialect               | string    |       | log      | Variant of the tool or of its output.
        test                  | string    |       | log      | Kind of test, such as ping-pong, under-load or stream.
        protocol              | string    |       | log      | Protocol, such as tcp, udp, icmp or rdma.
        command               | string    |       | log      | Command line, if the log or its prompt shows it.
        heading               | string    |       | file     | Headings above the log in a notes file, outermost first.
        client                | string    |       | log      | Name or address of the client, as printed.
        server                | string    |       | log      | Name or address of the server, as printed.
        test_id               | string    |       | log      | Ports of the test, equal in the logs of both ends.
        message_bytes         | int64     | bytes | log      | Size of one message.
        connections           | int64     |       | log      | Parallel connections.
        requested_duration_ns | int64     | ns    | log      | Requested duration.
        requested_bytes       | int64     | bytes | log      | Requested amount of data.
        requested_count       | int64     |       | log      | Requested probes or messages.
        duration_ns           | int64     | ns    | log      | Measured duration.
        warmup_ns             | int64     | ns    | log      | Warm-up, which the tool leaves out.
        settings              | string    |       | log      | Other options, such as "window 256K"; empty means defaults.
        started_at            | timestamp |       | log      | Start of the test, in UTC; missing if the log has no date.
        printed_as            | string    |       | log      | What the tool prints: round_trip, half_round_trip, one_way or unknown.
        closed_loop           | bool      |       | log      | Whether the next probe waits for the last reply.
        status                | string    |       | log      | complete, interrupted, truncated, failed, no_data or summary_only.
        """),
        *MANIFEST_COLUMNS,
    ),
    "metrics": _columns("""
        run_id       | string  | | computed | Run of the number.
        metric       | string  | | computed | Name of the number, such as rtt_mean or throughput.
        side         | string  | | log      | End that counted: client, server, sender, receiver, local, remote or device.
        stream       | string  | | log      | Stream; missing for the whole run.
        value        | float64 | | log      | The number in its canonical unit; latencies as round-trip times.
        unit         | string  | | computed | Canonical unit, such as ns, bytes or bit/s.
        printed      | string  | | log      | Exact token of the log; missing if the value follows from others.
        printed_unit | string  | | log      | Unit as printed.
        resolution   | float64 | | log      | Half a unit of the last printed digit.
        scope        | string  | | log      | What the number covers: run, stream, process or host.
        line         | int64   | | file     | Line of the number, from 1.
    """),
    "quantiles": _columns("""
        run_id        | string  |    | computed | Run of the quantile.
        metric        | string  |    | computed | Quantity, such as rtt.
        stream        | string  |    | log      | Stream; missing for the whole run.
        q             | float64 |    | log      | Share of observations at or below the value, between 0 and 1.
        value_ns      | float64 | ns | log      | Quantile as a round-trip time.
        printed       | string  |    | log      | Exact token of the log.
        printed_unit  | string  |    | log      | Unit as printed.
        resolution_ns | float64 | ns | log      | Half a unit of the last printed digit.
        n             | int64   |    | log      | Number of observations.
        rank          | int64   |    | computed | Rank of the value among the observations, from 1.
        beyond        | float64 |    | computed | Observations above the quantile, n (1 - q).
        origin        | string  |    | computed | Origin of the value: printed, samples or histogram.
        resolved      | bool    |    | computed | False for the sample maximum reported as a percentile.
        line          | int64   |    | file     | Line of the quantile, from 1.
    """),
    "intervals": _columns("""
        run_id                   | string  |       | computed | Run of the interval.
        side                     | string  |       | log      | End that reported: sender, receiver, client or server.
        stream                   | string  |       | log      | Stream; missing for the whole run.
        start_ns                 | int64   | ns    | log      | Start of the interval since the start of the test.
        end_ns                   | int64   | ns    | log      | End of the interval since the start of the test.
        bytes                    | float64 | bytes | log      | Transferred data.
        bytes_resolution         | float64 | bytes | log      | Half a unit of the last printed digit of bytes.
        throughput_bit_s         | float64 | bit/s | computed | Rate in the interval, recomputed from bytes and time if possible.
        throughput_printed_bit_s | float64 | bit/s | log      | Rate as printed.
        retransmits              | int64   |       | log      | Retransmitted segments.
        cwnd_bytes               | float64 | bytes | log      | Congestion window at the end of the interval.
        rtt_ns                   | int64   | ns    | log      | Round-trip time estimated by the sender's kernel.
        jitter_ns                | int64   | ns    | log      | Jitter of datagrams after RFC 3550.
        lost                     | int64   |       | log      | Lost datagrams.
        datagrams                | int64   |       | log      | Datagrams in total.
        operations_per_s         | float64 | 1/s   | log      | Connections or operations per second.
        omitted                  | bool    |       | log      | Whether the tool omits the interval from its totals.
        line                     | int64   |       | file     | Line of the interval, from 1.
    """),
    "samples": _columns("""
        run_id   | string |    | computed | Run of the probe.
        tool     | string |    | log      | Tool that wrote the log.
        seq      | int64  |    | log      | Number of the probe in its run.
        sent_ns  | int64  | ns | log      | Send time since the first probe of the run.
        rtt_ns   | int64  | ns | log      | Round-trip time; missing without a reply, and for other quantities.
        status   | string |    | log      | ok, lost, duplicate, out_of_order, unreachable, warmup, or void (time invalid).
        low_ns   | int64  | ns | log      | Lower bound of an interval-censored value.
        high_ns  | int64  | ns | log      | Upper bound of an interval-censored value.
        quantity | string |    | log      | round_trip, or connect (time to open a connection).
        time_ns  | int64  | ns | log      | Time of quantities other than round_trip.
    """),
    "histograms": _columns("""
        run_id  | string |    | computed | Run of the bucket.
        metric  | string |    | computed | Quantity, such as rtt.
        stream  | string |    | log      | Stream; missing for the whole run.
        low_ns  | int64  | ns | log      | Lower bound of the bucket.
        high_ns | int64  | ns | log      | Upper bound of the bucket; missing if it is open.
        count   | int64  |    | log      | Observations in the bucket.
        line    | int64  |    | file     | Line of the bucket, from 1.
    """),
    "events": _columns("""
        source_id | string | | file     | File of the event.
        run_id    | string | | computed | Run of the event; missing outside a run.
        line      | int64  | | file     | Line of the event, from 1.
        code      | string | | computed | Stable code in snake_case.
        severity  | string | | computed | info, warning or error.
        text      | string | | computed | The event in words.
    """),
}

#: Columns of frames that the tables do not have: one row per run, and one row per result.
FRAMES: dict[str, tuple[Column, ...]] = {
    "run_table": _columns("""
        file              | string  |       | import   | Path of the log in its study.
        path              | string  |       | computed | Path from client to server: the scenario, or the names of both ends.
        client_end        | string  |       | computed | Client's end of the path: machine, zone or region.
        server_end        | string  |       | computed | Server's end of the path: machine, zone or region.
        method            | string  |       | computed | Tool, test, protocol and sizes in which the runs differ.
        unknown           | string  |       | computed | Codes of the reasons why the run is not pooled.
        assumed           | string  |       | computed | Codes of assumptions about what no log, name or label states.
        request_bytes     | float64 | bytes | log      | Size of a request.
        response_bytes    | float64 | bytes | log      | Size of a response.
        target_rate_bit_s | float64 | bit/s | log      | Requested rate; 0 is unlimited.
        amount            | string  |       | log      | Amount or duration of the test.
        burst             | bool    |       | computed | Whether a stream was too short to show a sustained rate.
        other_end         | string  |       | computed | run_id of the log of the other end.
        counted           | bool    |       | computed | False for the log of the other end, a copy, or a window that overlaps a later one.
        name              | string  |       | computed | Path, method, and what distinguishes the run from others of both.
    """),
    "latency": _columns("""
        n                    | float64 |    | log      | Number of replies.
        received             | float64 |    | log      | Replies as printed.
        mean_ns              | float64 | ns | log      | Mean round-trip time.
        median_ns            | float64 | ns | log      | Median round-trip time; infinite if most probes were lost.
        p99_ns               | float64 | ns | log      | 99th percentile of the round-trip time; missing below 100 probes.
        max_ns               | float64 | ns | log      | Largest round-trip time.
        mean_ns_resolution   | float64 | ns | log      | Step of the printed mean.
        median_ns_resolution | float64 | ns | log      | Step of the printed median or samples.
        p99_ns_resolution    | float64 | ns | log      | Step of the printed percentile or samples.
        mean_from            | string  |    | computed | Origin of the mean: printed or rate.
        median_from          | string  |    | computed | Origin of the median: printed, samples or classes.
    """),
    "throughput": _columns("""
        throughput_bit_s            | float64 | bit/s | log      | Goodput of the run.
        side                        | string  |       | log      | End that counted: receiver or sender.
        printed                     | string  |       | log      | Goodput as printed.
        printed_unit                | string  |       | log      | Unit as printed.
        throughput_bit_s_resolution | float64 | bit/s | log      | Step of the printed goodput.
        retransmits                 | float64 |       | log      | Retransmitted segments.
        retransmits_scope           | string  |       | log      | What retransmits covers: run, process or host.
    """),
    "configured_links": _columns("""
        sender     | string  |       | file     | Sending end of the link.
        receiver   | string  |       | file     | Receiving end of the link.
        delay_ns   | float64 | ns    | file     | Configured one-way delay.
        mean_ns    | float64 | ns    | computed | Configured one-way delay plus mean jitter.
        rate_bit_s | float64 | bit/s | file     | Configured rate.
    """),
    "hosts": _columns("""
        host                   | string    |       | file | Name of the machine in file names.
        recorded_at            | timestamp |       | file | Time of the recording, in UTC.
        file                   | string    |       | file | Path of the recording.
        kernel                 | string    |       | file | Operating system with version and architecture.
        cpu_model              | string    |       | file | Model of the CPU.
        cpu_governor           | string    |       | file | CPU frequency governors; on Windows, the power plan.
        isolation              | string    |       | file | Kernel options that isolate CPUs, or none.
        clock_source           | string    |       | file | Clock source of the kernel.
        clock_offset_ns        | int64     | ns    | file | Clock offset reported by chrony; missing without a source.
        interface              | string    |       | file | Network interface towards the first other host.
        mtu_bytes              | int64     | bytes | file | MTU of the interface.
        driver                 | string    |       | file | Driver of the interface.
        rx_queues              | int64     |       | file | Receive queues of the interface.
        tx_queues              | int64     |       | file | Transmit queues of the interface.
        offloads               | string    |       | file | Enabled offloads of rx, tx, tso, gso, gro, lro, as ethtool names them.
        qdisc                  | string    |       | file | Queueing disciplines of the interface.
        region                 | string    |       | file | Region from the metadata service.
        zone                   | string    |       | file | Logical zone from the metadata service.
        physical_zone          | string    |       | file | Physical zone from the metadata service.
        vm_size                | string    |       | file | VM size from the metadata service.
        accelerated_networking | bool      |       | file | Whether there is an SR-IOV device; Azure only.
        version_ping           | string    |       | file | Version of ping.
        version_sockperf       | string    |       | file | Version of sockperf.
        version_iperf3         | string    |       | file | Version of iperf3.
        version_qperf          | string    |       | file | Version of qperf.
        version_latte          | string    |       | file | Version of latte.
        version_ntttcp         | string    |       | file | Version of ntttcp.
    """),
    "results": _columns("""
        what             | string  | | computed | What was estimated or compared.
        estimate         | float64 | | computed | The estimate.
        low              | float64 | | computed | Lower end of the interval; missing if unbounded.
        high             | float64 | | computed | Upper end of the interval; missing if unbounded.
        unit             | string  | | computed | Unit of the row.
        value            | string  | | computed | Column of the runs, such as median_ns.
        n                | int64   | | computed | Number of runs or packets.
        lowest           | float64 | | computed | Lowest run.
        highest          | float64 | | computed | Highest run.
        lag1             | float64 | | computed | Autocorrelation of neighbouring runs, in measured order.
        lag1_p           | float64 | | computed | p-value of lag1, by permutation.
        ljung_box_p      | float64 | | computed | p-value of the test that intervals of a transfer are independent.
        ramp             | float64 | | computed | First interval of a transfer less the others, in standard errors.
        warm_up_runs     | float64 | | computed | First runs that differ from all later ones.
        n_base           | float64 | | computed | Number of runs of the base, or before.
        n_candidate      | float64 | | computed | Number of runs of the candidate, or after.
        n_effective      | float64 | | computed | Equivalent number of independent runs or packets.
        scope            | string  | | computed | within_run (this connection) or across_runs (the path).
        confidence       | float64 | | computed | Confidence level of the interval.
        statistic        | string  | | computed | Statistical method and its source.
        flags            | string  | | computed | Codes of the warnings, separated by blanks.
        run_ids          | string  | | computed | Runs behind the row, separated by blanks.
        q                | float64 | | computed | Share of packets at or below the value, between 0 and 1.
        packets          | int64   | | computed | Packets of the run or runs, lost ones included.
        largest_ns       | float64 | ns | computed | Largest round-trip time.
        limit            | float64 | | computed | Limit above which packets are counted.
        n_calls          | int64   | | computed | Parallel calls, of which the slowest counts.
        block_maxima     | float64 | | computed | Estimate for consecutive packets instead of independent calls.
        mean             | float64 | | computed | Mean remaining wait at a random moment.
        share            | float64 | | computed | Share of packets at least as slow, or answered so far; of connections that live longer.
        lost             | int64   | | computed | Packets without a reply.
        beyond           | int64   | | computed | Replies beyond the axis of a histogram.
        verdict          | string  | | computed | different, different_within_margin, equivalent or inconclusive.
        verdict_alone    | string  | | computed | Verdict about these machines, without the spread between machines.
        margin           | float64 | | computed | Largest relative difference without practical importance.
        ratio            | float64 | | computed | First over second, measured over limit, or candidate over base.
        ratio_low        | float64 | | computed | Lower end of the interval of the ratio.
        ratio_high       | float64 | | computed | Upper end of the interval of the ratio.
        inner_low        | float64 | | computed | Lower end of the 90 % interval of the ratio, for equivalence.
        inner_high       | float64 | | computed | Upper end of the 90 % interval of the ratio, for equivalence.
        decides_low      | float64 | | computed | Lower end of the interval that decides the verdict.
        decides_high     | float64 | | computed | Upper end of the interval that decides the verdict.
        superiority      | float64 | | computed | Share of pairs of runs in which the first is larger; ties count half.
        difference       | float64 | | computed | First minus second.
        difference_low   | float64 | | computed | Lower end of the interval of the difference.
        difference_high  | float64 | | computed | Upper end of the interval of the difference.
        p                | float64 | | computed | p-value of the test; of a history, those of its changes.
        metric           | string  | | computed | Metric of a history: median, mean, p99, goodput or loss.
        at               | int64   | | computed | Position of the first point of a new level, from 0.
        at_low           | int64   | | computed | Lower end of the 95 % interval of the position.
        at_high          | int64   | | computed | Upper end of the 95 % interval of the position.
        position         | int64   | | computed | Position of a point in its series, from 0.
        date             | timestamp | | computed | Start of the new level, or of the point, in UTC.
        date_low         | timestamp | | computed | Lower end of the 95 % interval of the date.
        date_high        | timestamp | | computed | Upper end of the 95 % interval of the date.
        before           | float64 | | computed | Level before a change.
        after            | float64 | | computed | Level after a change.
        change_count     | int64   | | computed | Changes of level.
        level            | float64 | | computed | Level of the last points, or of the point.
        drift            | float64 | | computed | Last over first value of a line, if it fits better than levels.
        alarmed          | bool    | | computed | Whether a change of level, or the drift, exceeds the margin.
        date_first       | timestamp | | computed | Start of the first point, in UTC.
        date_last        | timestamp | | computed | Start of the last point, in UTC.
        window_ns        | float64 | ns | computed | Window of a published mean; missing for runs.
        spacing_ns       | float64 | ns | computed | Usual time between the points of a series.
        step             | float64 | | computed | Step in which the logs print the values of a series; 0 if unknown.
        beside           | int64   | | computed | Points next to a sighting that it is compared with; 0: its level.
        missing          | int64   | | computed | Nights without a run.
        family           | int64   | | computed | Series searched together.
        assumed          | string  | | computed | Codes of assumptions about what no log, name or label states.
        notes            | string  | | computed | Sentences about single runs, such as those left out.
        label            | string  | | computed | Label after a change, or at a point.
        label_before     | string  | | computed | Label before a change.
        ends             | int64   | | computed | Number of zones or hosts.
        pairs            | int64   | | computed | Compared pairs.
        different        | int64   | | computed | Pairs whose directions differ.
        inconclusive     | int64   | | computed | Pairs with an inconclusive comparison.
        same_zone        | bool    | | computed | Whether both ends are in one zone: a control pair.
        there            | float64 | | computed | Median run of the first direction.
        back             | float64 | | computed | Median run of the other direction.
        n_there          | int64   | | computed | Rounds or runs of the first direction.
        n_back           | int64   | | computed | Rounds or runs of the other direction.
        reference        | string  | | computed | Shortest pair, to which the path is compared.
        recorded         | float64 | | file | Difference recorded by the emulator, in ns.
        configured       | float64 | | file | Difference of the configured delays, in ns.
        error            | float64 | | computed | Measured minus recorded difference, in ns.
        holds            | bool    | | computed | Whether the interval contains the recorded difference.
        rounds           | int64   | | computed | Number of rounds.
        from             | string  | | computed | Initiator or sender of the first direction.
        to               | string  | | computed | Responder or receiver of the first direction.
        status           | string  | | computed | meets, fails or inconclusive.
        relation         | string  | | manifest | Relation of the expectation: at_least, at_most, about or between.
        printed          | string  | | manifest | Expectation as its source prints it.
        limit_low        | float64 | | computed | Lower limit of the expectation, or of agreement.
        limit_high       | float64 | | computed | Upper limit of the expectation, or of agreement.
        decides          | float64 | | computed | Runs that would decide at the same typical run and spread.
        precision        | float64 | | computed | Requested relative half-width of the interval.
        two              | int64   | | computed | Fewest independent observations for both bounds of a percentile.
        upper            | int64   | | computed | Fewest independent observations for an upper bound of a percentile.
        range            | int64   | | computed | Fewest observations whose range contains the percentile.
        enough           | int64   | | computed | Runs with enough observations for both bounds.
        runs             | int64   | | computed | Number of runs.
        needed           | float64 | | computed | Runs needed in total.
        done             | float64 | | computed | Existing runs.
        more             | float64 | | computed | Further runs needed.
        at_pilot_spread  | float64 | | computed | Runs needed if the spread of the first runs were the true one.
        first            | string  | | computed | First method of a pair.
        second           | string  | | computed | Second method of a pair.
        prediction_low   | float64 | | computed | Lower end of the prediction interval for a new pair.
        prediction_high  | float64 | | computed | Upper end of the prediction interval for a new pair.
        first_value      | float64 | | computed | Value of the first method in a round.
        second_value     | float64 | | computed | Value of the second method in a round.
        differs_in       | string  | | computed | Properties in which the packets of both methods differ.
        origin           | string  | | computed | log, or reported (in a text).
        kind             | string  | | computed | Tool, test and protocol.
        pair             | string  | | computed | Zones of both ends, or the zone of a path inside one; empty if unknown.
        ended            | bool    | | computed | Whether the path has no value in the newest window.
        superseded       | float64 | | file | Value that a text reports for the run, in ns.
        factor           | string  | | computed | Circumstance in which two conditions differ.
        base_path        | string  | | computed | Path of the base.
        base_placement   | string  | | computed | Placement of the base.
        base_vm_size     | string  | | computed | VM size of the base.
        base_accelerated_networking | bool | | computed | Whether the base has accelerated networking.
        base_message_bytes | int64 | | computed | Message size of the base.
        unsaid           | string  | | computed | Circumstances known for one of the two only, separated by blanks.
        measured_low     | float64 | | computed | Smallest ratio of single values; not an interval.
        measured_high    | float64 | | computed | Largest ratio of single values; not an interval.
        other            | int64   | | computed | Row of the compared conditions.
        base             | int64   | | computed | Row of the conditions to which they are compared.
        stable           | bool    | | computed | Whether no level shift was confirmed; missing if the run is too short.
        shift_count      | int64   | | computed | Level shifts.
        confirmed        | int64   | | computed | Confirmed shifts, or whether the shift is confirmed.
        blocks           | int64   | | computed | Blocks whose medians were searched for shifts.
        block            | float64 | | computed | Length of a block, in packets or ns.
        change           | float64 | | computed | Later minus earlier level.
        change_low       | float64 | | computed | Lower end of the interval of the change.
        change_high      | float64 | | computed | Upper end of the interval of the change.
        relative         | float64 | | computed | Change relative to the earlier level.
        test_statistic   | float64 | | computed | Self-normalised statistic of a shift.
        practical        | bool    | | computed | Whether the relative change exceeds the margin.
        has_times        | bool    | | computed | Whether the log has send times.
        jitter           | float64 | | computed | Median difference of neighbouring round-trip times, in ns.
        clock_steps      | float64 | | computed | Packets at which the clock was set.
        seconds          | float64 | | computed | Duration of the run, or of all connections, in s.
        drift_low        | float64 | | computed | Lower end of the interval of the drift, in ns.
        drift_high       | float64 | | computed | Upper end of the interval of the drift, in ns.
        kendall          | float64 | | computed | Kendall's tau between time and level.
        found            | bool    | | computed | Whether the rate fell and stayed low; missing if the run is too short.
        burst_rate       | float64 | | computed | Median rate before the fall.
        sustained_rate   | float64 | | computed | Median rate after the fall.
        at_s             | float64 | | computed | Time of the fall, in s.
        bucket           | float64 | | computed | Traffic beyond the sustained rate until the fall, in units times s.
        spread           | float64 | | computed | Coefficient of variation of the rates of intervals.
        median_rate      | float64 | | computed | Median rate of the intervals.
        silent           | int64   | | computed | Intervals without traffic.
        silent_last      | int64   | | computed | Those after the last one with traffic.
        intervals        | int64   | | computed | Number of reporting intervals.
        segment          | string  | | file | Segment of a run, as reported.
        change_ns        | float64 | | computed | Mean of a segment minus that of the previous one, in ns.
        after_s          | float64 | | computed | Seconds after the first connection broke.
        together         | bool    | | computed | Whether it broke less than a minute after the one before.
        lasted           | string  | | file | Duration of a connection, as reported.
        time             | float64 | | computed | Lifetime of a lost connection, in s.
        losses           | int64   | | computed | Lost connections.
        rate             | float64 | | computed | Lost connections per second.
        rate_low         | float64 | | computed | Lower end of the interval of the rate.
        rate_high        | float64 | | computed | Upper end of the interval of the rate.
        changes          | string  | | computed | Positions of the first run after each change, from 0.
        levels           | string  | | computed | Median of the runs between two changes.
    """),
}


#: What a row of each table and frame is.
ROWS = {
    "sources": "One row per input file or archive member.",
    "runs": "One row per test of one tool between one client and one server.",
    "metrics": "One row per number that a log prints, or that follows from what it prints.",
    "quantiles": "One row per printed quantile.",
    "intervals": "One row per reporting interval.",
    "samples": "One row per probe. In Parquet, the tool is in the name of the folder.",
    "histograms": "One row per bucket of a frequency table.",
    "events": "One row per event about a line.",
    "run_table": "What `azlatency.studies.run_table` adds to the table `runs`.",
    "latency": 'What `azlatency.latency` adds to `run_table`; with `quantity="connect"`, the times to open a connection.',
    "throughput": "What `azlatency.throughput` adds to `run_table`.",
    "configured_links": "One row per direction of a link of an emulated network, from `truth.json`.",
    "hosts": "`study.hosts`: one row per machine and recording of its facts by the script of `azlatency plan`.",
    "results": "What statistics add to the columns that identify a row, such as path and method. Without a unit of its own, a value is in the unit of the row.",
}

#: Columns of integers that have a value in every row.
NEVER_MISSING = {
    *(column.name for column in TABLES["sources"] if column.name.startswith("lines")),
    *("size_bytes", "first_line", "last_line", "line", "seq", "start_ns", "end_ns", "count"),
}
#: The quantity of samples that are round-trip times.
ROUND_TRIP = "round_trip"
#: Statuses of samples that no statistic counts, neither as a time nor as a loss.
UNCOUNTED = ("warmup", "duplicate", "void")


@cache
def names(table: str) -> tuple[str, ...]:
    """Return the column names of a table, in order.

    Parameters
    ----------
    table : str
        A key of `TABLES`.

    Returns
    -------
    tuple of str
        The names.

    Raises
    ------
    KeyError
        If there is no table of that name. The message lists the tables.

    Examples
    --------
    >>> names("histograms")
    ('run_id', 'metric', 'stream', 'low_ns', 'high_ns', 'count', 'line')
    """
    if table not in TABLES:
        raise KeyError(f"no table {table!r}; tables: {', '.join(TABLES)}")
    return tuple(column.name for column in TABLES[table])


@cache
def arrow_schema(table: str) -> pa.Schema:
    """Return the pyarrow schema of a table.

    Parameters
    ----------
    table : str
        A key of `TABLES`.

    Returns
    -------
    pyarrow.Schema
        The schema. The metadata of each field contains its ``unit``, ``source`` and ``description``.
    """
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema(
        [
            pa.field(
                column.name,
                types[column.type],
                metadata={"unit": column.unit, "source": column.source, "description": column.doc},
            )
            for column in TABLES[table]
        ],
        metadata={"azlatency_table": table},
    )


def describe(table: str = "") -> str:
    """Return what the columns of a table or frame mean.

    Parameters
    ----------
    table : str
        A key of `TABLES` or `FRAMES`; all of them if it is empty.

    Returns
    -------
    str
        One line per column: its name, a sentence, its unit and its source.

    Raises
    ------
    KeyError
        If there is no table or frame of that name. The message lists them.

    Examples
    --------
    >>> print(describe("histograms").splitlines()[3])
    low_ns   Lower bound of the bucket. Unit: ns. Source: log.
    """
    known = TABLES | FRAMES
    if not table:
        return "\n\n".join(f"{name}\n{'-' * len(name)}\n{describe(name)}" for name in known)
    if table not in known:
        raise KeyError(f"no table {table!r}; tables and frames: {', '.join(known)}")
    width = max(len(column.name) for column in known[table])
    return "\n".join(f"{column.name:{width}}  {column}" for column in known[table])


def document(frame: pd.DataFrame, *tables: str) -> pd.DataFrame:
    """Store what the columns of a frame mean in its ``attrs["columns"]``, and return it.

    Parameters
    ----------
    frame : DataFrame
        The frame.
    *tables : str
        Keys of `TABLES` or `FRAMES`; of columns with equal names, the last one counts.

    Returns
    -------
    DataFrame
        The same frame.
    """
    frame.attrs["columns"] = _texts(tables, tuple(map(str, (*frame.index.names, *frame.columns))))
    return frame


@cache
def _texts(tables: tuple[str, ...], names: tuple[str, ...]) -> ColumnTexts:
    known = {column.name: str(column) for table in tables for column in (TABLES | FRAMES)[table]}
    return ColumnTexts({name: known[name] for name in names if name in known})


#: How a frame of another library becomes one of pandas, where it is not by ``to_pandas()``.
_CONVERT = {"duckdb": "df()", "dask": "compute()", "pyspark": "toPandas()"}


def refuse_foreign(data: object) -> None:
    """Raise `TypeError` if the data are a frame or table of another library than pandas."""
    kinds = type(data).__mro__
    if not hasattr(type(data), "columns") or any(kind.__module__.partition(".")[0] == "pandas" for kind in kinds):
        return
    library = kinds[0].__module__.partition(".")[0].lstrip("_")
    convert = ("collect()." * hasattr(data, "collect")) + _CONVERT.get(library, "to_pandas()")
    raise TypeError(
        f"{library}.{kinds[0].__name__} is not a frame of pandas; pass its {convert}, and for a frame of runs its "
        f"{convert}.set_index('run_id')"
    )


__doc__ = f"{__doc__}\n{describe()}\n"  # for help()
