from __future__ import annotations

START = "Starting {} threads running profile:stream ...   0.00 seconds\n"
STEPS = """\
Txn1            0 /   1.00(s) =            0           2op/s
Txn2     {size} /{time}(s) = {rate}      100000op/s
Txn3            0 /   0.00(s) =            0       20000op/s
-------------------------------------------------------------------------------
Total    {size} /  32.20(s) =     9.31Gb/s      100000op/s
"""
FLOWOPS = """
Txn                Count         avg         cpu         max         min
-------------------------------------------------------------------------------
Txn0                   1    239.98us      0.00ns    239.98us    239.98us
Txn1                {txn}     27.53us      0.00ns     {max}      4.07us

Flowop             Count         avg         cpu         max         min
-------------------------------------------------------------------------------
connect                1    239.25us      0.00ns    239.25us    239.25us
write               {write}      2.30us      0.00ns     54.84us    987.00ns
read                {read}     25.14us      0.00ns     70.02ms    381.00ns

"""
STATISTICS = """
Run Statistics
Hostname            Time       Data   Throughput   Operations      Errors
-------------------------------------------------------------------------------
10.66.1.5         32.20s    {size}     9.31Gb/s       290511        0.00
master            32.20s    34.90GB     9.31Gb/s       290510        0.00
-------------------------------------------------------------------------------
Difference(%)     -0.00%     -0.00%        0.00%       -0.00%       0.00%
"""


def text(size: str = " 34.90GB", time: str = "  30.20", rate: str = "    9.93Gb/s", threads: int = 1) -> str:
    return START.format(threads) + STEPS.format(size=size, time=time, rate=rate)


def exchange(txn: int = 500, write: int = 500, read: int = 499, max: str = " 70.02ms") -> str:
    return FLOWOPS.format(txn=txn, write=write, read=read, max=max)


def test_the_throughput_is_that_of_the_transaction_not_of_the_total(read) -> None:
    log = read(text())
    assert log.value("throughput", stream=None) == 9.93e9
    assert log.value("throughput", stream="Total") == 9.31e9
    assert log.codes() == ["direction_unknown"]


def test_bytes_that_lost_the_b_of_their_unit_are_read_and_those_that_lost_the_prefix_are_left_out(read) -> None:
    assert (
        read(text("696.84M", rate="  193.55Mb/s").replace("9.31Gb", "181.53Mb")).value("transferred")
        == 696.84 * 1024**2
    )
    log = read(text("1000.00", rate="  277.70Mb/s"))
    assert log.value("transferred") is None
    assert log.codes().count("cut_number") == 2


def test_an_iteration_of_one_write_and_one_read_is_a_round_trip(read) -> None:
    log = read(text() + exchange())
    assert log.value("rtt_mean") == 27_530
    assert log.runs[0]["printed_as"] == "round_trip"
    assert log.value("throughput", stream=None) is None
    assert log.codes() == ["both_directions"]


def test_the_minimum_is_known_if_no_iteration_was_interrupted(read) -> None:
    assert read(text() + exchange()).value("rtt_min") is None
    assert read(text() + exchange(read=500)).value("rtt_min") == 4_070


def test_iterations_of_several_writes_are_no_round_trip(read) -> None:
    assert read(text() + exchange(write=5000)).value("rtt_mean") is None


def test_a_time_of_a_clock_that_was_set_back_is_left_out_and_the_rate_with_it(read) -> None:
    log = read(text() + exchange(max="184467440ms").replace("read ", "nop "))
    assert log.value("execution_time_max", stream="Txn2") is None
    assert log.value("throughput", stream=None) is None
    assert log.codes() == ["clock_step"]


def test_the_ends_of_a_run_are_compared(read) -> None:
    assert "ends_disagree" not in read(text() + STATISTICS.format(size="34.90GB")).codes()
    log = read(text() + STATISTICS.format(size="30.10GB"))
    assert log.codes("warning") == ["direction_unknown", "ends_disagree"]
    assert log.runs[0]["server"] == "10.66.1.5"


def test_a_rate_that_is_not_the_bytes_by_the_time_is_an_error(read) -> None:
    log = read(text(rate="    9.39Gb/s"))
    assert log.codes("error") == ["rate_mismatch"]
    assert log.runs[0]["status"] == "failed"


def test_a_log_that_ends_early_is_truncated(read) -> None:
    assert read(text().split("---")[0]).runs[0]["status"] == "truncated"
    assert read(text() + STATISTICS.format(size="34.90GB").split("Difference")[0]).runs[0]["status"] == "truncated"


def test_rows_without_the_first_line_are_read(read) -> None:
    log = read(text().split("\n", 1)[1])
    assert log.value("throughput", stream=None) == 9.93e9


def test_an_aborted_run_is_failed(read) -> None:
    log = read(START.format(1) + "\n*** Slave aborted! ***\n")
    assert log.runs[0]["status"] == "failed"


def test_two_profiles_in_a_file_are_two_runs(read) -> None:
    assert len(read(text() + text()).runs) == 2


def test_the_extremes_of_a_repeated_operation_are_left_out(read) -> None:
    for log in (read(text() + exchange(write=8000)), read(text() + exchange().replace("987.00ns", "  8.95us"))):
        assert log.value("execution_time_mean", stream="write") == 2_300
        assert log.value("execution_time_min", stream="write") is None
        assert log.value("execution_time_max", stream="write") is None
        assert "repeated_operation" in log.codes()


def test_a_table_that_ends_with_a_row_is_cut(read) -> None:
    assert read(text() + exchange().rstrip() + "\n").runs[0]["status"] == "truncated"


def test_a_mean_outside_its_range_contradicts(read) -> None:
    log = read(text() + exchange().replace("239.25us      0.00ns", "  9.25us      0.00ns"))
    assert log.runs[0]["status"] == "failed"
    assert "impossible_spread" in log.codes()
