from __future__ import annotations

import re
from collections import Counter
from math import sqrt
from pathlib import Path

import pytest
from helpers.logs import event_codes, first_run, metric_values, read_text
from helpers.places import FIXTURES
from helpers.results import estimates_of

import azlatency as az
from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes

HEADER = "PING 10.2.2.4 (10.2.2.4) 56(84) bytes of data.\n"


def reply(seq: int, ms: str = "0.300", tail: str = "") -> str:
    return f"64 bytes from 10.2.2.4: icmp_seq={seq} ttl=64 time={ms} ms{tail}\n"


def summary(sent: int, received: int, extra: str = "", loss: str = "0") -> str:
    return (
        f"\n--- 10.2.2.4 ping statistics ---\n{sent} packets transmitted, {received} received{extra}, "
        f"{loss}% packet loss, time 1000ms\nrtt min/avg/max/mdev = 0.200/0.300/0.400/0.040 ms\n"
    )


def test_the_two_summaries_of_the_availability_set_notes(seed) -> None:
    notes = seed("availability-sets-vs-zones.md")
    first, second = notes.of("ping")
    assert [notes.value(name, first) for name in ("sent", "received", "lost", "loss")] == [20, 20, 0, 0]
    printed = ["rtt_min", "rtt_mean", "rtt_max", "rtt_sd"]
    assert [notes.metric(name, first)["printed"] for name in printed] == ["0.718", "0.969", "2.137", "0.299"]
    assert notes.value("rtt_mean", first) == 969_000
    assert notes.value("rtt_sd", first) == pytest.approx(299_000 * sqrt(20 / 19))
    assert notes.runs[first]["duration_ns"] == 19_235_000_000
    assert notes.value("rtt_mean", second) == 1_902_000
    assert not notes.samples


def test_sequence_numbers_wrap_at_sixteen_bits(read) -> None:
    log = read(HEADER + reply(65534) + reply(65535) + reply(0) + reply(1))
    assert list(log.samples[0].seq) == [65534, 65535, 65536, 65537]


def test_a_late_reply_replaces_no_answer_yet(read) -> None:
    log = read(HEADER + reply(1) + "no answer yet for icmp_seq=2\n" + reply(3) + reply(2, "1200") + summary(3, 3))
    assert dict(zip(log.samples[0].seq, log.samples[0].status, strict=True)) == {1: "ok", 2: "ok", 3: "ok"}


def test_probes_without_a_line_are_lost_samples_if_the_counts_agree(read) -> None:
    log = read(HEADER + reply(1) + reply(3) + summary(4, 2, loss="50"))
    assert Counter(log.samples[0].status) == {"ok": 2, "lost": 2}
    torn = read(HEADER + reply(1) + reply(3) + summary(4, 4))
    assert Counter(torn.samples[0].status) == {"ok": 2}
    assert torn.codes() == ["lines_missing"]


def test_duplicates_count_for_the_deviation_but_not_as_received(read) -> None:
    text = HEADER + reply(1) + reply(1, tail=" (DUP!)") + reply(2) + summary(2, 2, ", +1 duplicates")
    log = read(text)
    assert Counter(log.samples[0].status) == {"ok": 2, "duplicate": 1}
    assert log.value("received") == 2
    assert log.value("observations") == 3
    assert log.value("rtt_sd") == pytest.approx(40_000 * sqrt(3 / 2))


@pytest.mark.parametrize(
    ("received", "printed", "codes"),
    [(3575, "0", ["loss_recomputed"]), (3564, "1", []), (3564, "3", ["loss_recomputed"]), (3575, "0.694444", [])],
)
def test_loss_is_computed_from_the_counts(read, received: int, printed: str, codes: list[str]) -> None:
    log = read(HEADER + summary(3600, received, loss=printed))
    assert log.value("loss") == (3600 - received) / 3600
    assert log.codes() == codes


def test_stamps_are_read_as_integers(read) -> None:
    stamps = "[1795228093.993389] " + reply(1, "0.302") + "[1795228094.101311] " + reply(2, "0.268")
    log = read(HEADER + stamps + summary(2, 2))
    assert list(log.samples[0].sent_ns) == [0, 107_956_000]
    assert log.tables.records("runs")[0]["started_at"] == "2026-11-21T02:28:13.993087Z"


def test_send_times_follow_from_the_interval_of_the_command(read) -> None:
    log = read("$ ping -i 0.2 -c 2 10.2.2.4\n" + HEADER + reply(1) + reply(2) + summary(2, 2))
    assert list(log.samples[0].sent_ns) == [0, 200_000_000]
    assert list(read(HEADER + reply(1)).samples[0].sent_ns) == [None]


def test_windows_times_are_intervals(read) -> None:
    log = read(
        "Pinging 10.1.0.4 with 32 bytes of data:\r\n"
        "Reply from 10.1.0.4: bytes=32 time<1ms TTL=128\r\n"
        "Reply from 10.1.0.4: bytes=32 time=2ms TTL=128\r\n"
        "Request timed out.\r\n\r\n"
        "Ping statistics for 10.1.0.4:\r\n"
        "    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),\r\n"
        "Approximate round trip times in milli-seconds:\r\n"
        "    Minimum = 0ms, Maximum = 2ms, Average = 1ms\r\n"
    )
    samples = log.samples[0]
    assert list(samples.rtt_ns) == [None, 2_000_000, None]
    assert list(samples.low_ns) == [0, 2_000_000, None]
    assert list(samples.high_ns) == [1_000_000, 3_000_000, None]
    assert list(samples.status) == ["ok", "ok", "lost"]
    assert log.value("rtt_min") is None
    assert log.value("rtt_max") == 2_000_000
    assert log.codes() == ["below_resolution"]
    assert log.runs[0]["dialect"] == "windows-en"


def test_windows_counts_unreachable_as_received(read) -> None:
    log = read(
        "Pinging 10.0.0.6 with 32 bytes of data:\n"
        "Reply from 10.0.108.189: Destination host unreachable\n\n"
        "Ping statistics for 10.0.0.6:\n    Packets: Sent = 1, Received = 1, Lost = 0 (0% loss),\n"
    )
    assert (log.value("received"), log.value("lost"), log.value("loss")) == (0, 1, 1)
    assert "unreachable_counted_as_received" in log.codes("warning")


def test_a_wrongly_translated_label_does_not_reorder_the_numbers(read) -> None:
    log = read(
        "PING 10.2.2.4 (10.2.2.4) 56(84) 字节的数据。\n\n--- 10.2.2.4 ping 统计 ---\n"
        "已发送 3 个包， 已接收 3 个包, 0% 包丢失, 耗时 213 毫秒\n"
        "rtt 最小/平均/移动平均/最大 = 0.034/0.039/0.045/0.004 ms\n"
    )
    assert [log.value(name) for name in ("rtt_min", "rtt_mean", "rtt_max")] == [34_000, 39_000, 45_000]
    assert log.codes() == ["label_conflict"]


def test_a_mean_outside_its_extremes_is_an_error(read) -> None:
    log = read(HEADER + summary(3, 3).replace("0.200/0.300/0.400", "0.350/0.300/0.400"))
    assert log.codes("error") == ["impossible_spread"]


def test_adaptive_and_flood_pings_are_closed_loops(read) -> None:
    assert read(HEADER + reply(1)).runs[0]["closed_loop"] is False
    assert read("$ ping -A 10.2.2.4\n" + HEADER + reply(1)).runs[0]["closed_loop"] is True
    flood = summary(3, 3).replace("0.040 ms", "0.040 ms, ipg/ewma 0.218/0.166 ms")
    assert read(HEADER + flood).runs[0]["closed_loop"] is True


def test_two_summaries_without_headers_are_two_runs(read) -> None:
    log = read(summary(3, 3) + summary(5, 4, loss="20"))
    assert [log.value("sent", run) for run in (0, 1)] == [3, 5]


def test_many_replies_at_once_give_the_same_samples_as_single_ones(read) -> None:
    lines = [reply(seq % 65536, f"0.{200 + seq % 700}") for seq in range(1, 70_000)]
    del lines[31_000]
    log = read(HEADER + "".join(lines))
    block = log.samples[0]
    assert len(block.seq) == 69_998
    assert block.seq[-1] == 69_999
    assert 31_001 not in block.seq
    assert list(block.rtt_ns[:2]) == [201_000, 202_000]
    assert block.rtt_ns[-1] == (200 + 69_999 % 700) * 1000


@pytest.mark.parametrize(
    "line",
    [
        "64 bytes from 10.2.2.4: icmp_seq=2 ttl=64 time=0.043 ms: some weird error",
        "64 bytes from 10.2.2.4: icmp_seq=2 ttl=64 time=0.043 m",
        "64 bytes from 10.2.2.4: icmp_seq=2 ttl=64 time=0,0,43 ms",
    ],
)
def test_damaged_replies_are_unknown_lines(read, line: str) -> None:
    log = read(HEADER + reply(1) + line + "\n")
    assert log.unknown() == 1
    assert len(log.samples[0].seq) == 1


# The wording of each language, its code page, and the lines that it wraps: typed after the documents that describe
# them, since the published logs are not ours to copy. The second reply is under a millisecond.
WINDOWS = {
    "en": ("cp437", """Pinging 10.1.0.4 with 32 bytes of data:
Reply from 10.1.0.4: bytes=32 time=2ms TTL=128
Reply from 10.1.0.4: bytes=32 time<1ms TTL=128
Request timed out.

Ping statistics for 10.1.0.4:
    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 2ms, Average = 1ms
"""),
    "de": ("cp850", """Ping wird ausgeführt für 10.1.0.4 mit 32 Bytes Daten:
Antwort von 10.1.0.4: Bytes=32 Zeit=2ms TTL=128
Antwort von 10.1.0.4: Bytes=32 Zeit<1ms TTL=128
Zeitüberschreitung der Anforderung.

Ping-Statistik für 10.1.0.4:
    Pakete: Gesendet = 3, Empfangen = 2, Verloren = 1
    (33% Verlust),
Ca. Zeitangaben in Millisek.:
    Minimum = 0ms, Maximum = 2ms, Mittelwert = 1ms
"""),
    "es": ("cp850", """Haciendo ping a 10.1.0.4 con 32 bytes de datos:
Respuesta desde 10.1.0.4: bytes=32 tiempo=2ms TTL=128
Respuesta desde 10.1.0.4: bytes=32 tiempo<1m TTL=128
Tiempo de espera agotado para esta solicitud.

Estadísticas de ping para 10.1.0.4:
    Paquetes: enviados = 3, recibidos = 2, perdidos = 1
    (33% perdidos),
Tiempos aproximados de ida y vuelta en milisegundos:
    Mínimo = 0ms, Máximo = 2ms, Media = 1ms
"""),
    "fr": ("cp850", """Envoi d'une requête 'Ping'  10.1.0.4 avec 32 octets de données :
Réponse de 10.1.0.4 : octets=32 temps=2 ms TTL=128
Réponse de 10.1.0.4 : octets=32 temps<1ms TTL=128
Délai d'attente de la demande dépassé.

Statistiques Ping pour 10.1.0.4:
    Paquets : envoyés = 3, reçus = 2, perdus = 1 (perte 33%),
Durée approximative des boucles en millisecondes :
    Minimum = 0ms, Maximum = 2ms, Moyenne = 1ms
"""),
    "it": ("cp850", """Esecuzione di Ping 10.1.0.4 con 32 byte di dati:
Risposta da 10.1.0.4: byte=32 durata=2ms TTL=128
Risposta da 10.1.0.4: byte=32 durata<1ms TTL=128
Richiesta scaduta.

Statistiche Ping per 10.1.0.4:
    Pacchetti: Trasmessi = 3, Ricevuti = 2, Persi = 1
    (33% persi),
Tempo approssimativo percorsi andata/ritorno in millisecondi:
    Minimo = 0ms, Massimo =  2ms, Medio =  1ms
"""),
    "pt": ("cp850", """Disparando 10.1.0.4 com 32 bytes de dados:
Resposta de 10.1.0.4: bytes=32 tempo=2ms TTL=128
Resposta de 10.1.0.4: bytes=32 tempo<1ms TTL=128
Esgotado o tempo limite do pedido.

Estatísticas do Ping para 10.1.0.4:
    Pacotes: Enviados = 3, Recebidos = 2, Perdidos = 1 (33% de
             perda),
Aproximar um número redondo de vezes em milissegundos:
    Mínimo = 0ms, Máximo = 2ms, Média = 1ms
"""),
    "pl": ("cp852", """Badanie 10.1.0.4 z 32 bajtami danych:
Odpowiedź z 10.1.0.4: bajtów=32 czas=2ms TTL=128
Odpowiedź z 10.1.0.4: bajtów=32 czas<1 ms TTL=128
Upłynął limit czasu żądania.

Statystyka badania ping dla 10.1.0.4:
    Pakiety: Wysłane = 3, Odebrane = 2, Utracone = 1
             (33% straty),
Szacunkowy czas błądzenia pakietów w millisekundach:
    Minimum = 0 ms, Maksimum = 2 ms, Czas średni = 1 ms
"""),
    "ru": ("cp866", """Обмен пакетами с 10.1.0.4 по с 32 байтами данных:
Ответ от 10.1.0.4: число байт=32 время=2мс TTL=128
Ответ от 10.1.0.4: число байт=32 время<1мс TTL=128
Превышен интервал ожидания для запроса.

Статистика Ping для 10.1.0.4:
    Пакетов: отправлено = 3, получено = 2, потеряно = 1
    (33% потерь)
Приблизительное время приема-передачи в мс:
    Минимальное = 0мсек, Максимальное = 2 мсек, Среднее = 1 мсек
"""),
    "tr": ("cp857", """10.1.0.4 için ping atılıyor 32 bayt veriyle:
10.1.0.4 cevabı: bayt=32 süre=2ms TTL=128
10.1.0.4 cevabı: bayt=32 süre<1ms TTL=128
İstek zaman aşımına uğradı.

10.1.0.4 için Ping istatistikleri:
    Paket: Giden = 3, Gelen = 2, Kaybolan = 1 (%33 kayıp),
Mili saniye türünden yaklaşık tur süreleri:
    En Az = 0ms, En Çok = 2ms, Ortalama = 1ms
"""),
    "zh": ("gbk", """正在 Ping 10.1.0.4 具有 32 字节的数据:
来自 10.1.0.4 的回复: 字节=32 时间=2ms TTL=128
来自 10.1.0.4 的回复: 字节=32 时间<1ms TTL=128
请求超时。

10.1.0.4 的 Ping 统计信息:
    数据包: 已发送 = 3，已接收 = 2，丢失 = 1 (33% 丢失)，
往返行程的估计时间(以毫秒为单位):
    最短 = 0ms，最长 = 2ms，平均 = 1ms
"""),
    "ja": ("cp932", """10.1.0.4 に ping を送信しています 32 バイトのデータ:
10.1.0.4 からの応答: バイト数 =32 時間 =2ms TTL=128
10.1.0.4 からの応答: バイト数 =32 時間 <1ms TTL=128
要求がタイムアウトしました。

10.1.0.4 の ping 統計:
    パケット数: 送信 = 3、受信 = 2、損失 = 1 (33% の損失)、
ラウンド トリップの概算時間 (ミリ秒):
    最小 = 0ms、最大 = 2ms、平均 = 1ms
"""),
    "ko": ("cp949", """Ping 10.1.0.4 32바이트 데이터 사용:
10.1.0.4의 응답: 바이트=32 시간=2ms TTL=128
10.1.0.4의 응답: 바이트=32 시간<1ms TTL=128
요청 시간이 만료되었습니다.

10.1.0.4에 대한 Ping 통계:
    패킷: 보냄 = 3, 받음 = 2, 손실 = 1 (33% 손실),
왕복 시간(밀리초):
    최소 = 0ms, 최대 = 2ms, 평균 = 1ms
"""),
    "nl": ("cp850", """Pingen naar 10.1.0.4 met 32 bytes aan gegevens:
Antwoord van 10.1.0.4: bytes=32 tijd=2ms TTL=128
Antwoord van 10.1.0.4: bytes=32 tijd<1ms TTL=128
Time-out bij opdracht.

Ping-statistieken voor 10.1.0.4:
    Pakketten: verzonden = 3, ontvangen = 2, verloren = 1
    (33% verlies),
De gemiddelde tijd voor het uitvoeren van één bewerking in milliseconden:
    Minimum = 0ms, Maximum = 2ms, Gemiddelde = 1ms
"""),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "console"])
@pytest.mark.parametrize("language", WINDOWS)
def test_windows_in_each_language_and_code_page(language: str, encoding: str) -> None:
    page, text = WINDOWS[language]
    raw = text.replace("\n", "\r\n").encode(page if encoding == "console" else encoding)
    tables = parse_source(source_from_bytes(raw, "a.log"))
    (run,) = tables.rows["runs"]
    assert (run["dialect"], run["server"], run["message_bytes"]) == (f"windows-{language}", "10.1.0.4", 32)
    assert run["status"] == "complete"
    values = {row["metric"]: row["value"] for row in tables.rows["metrics"]}
    assert [values[name] for name in ("sent", "received", "lost", "rtt_mean", "rtt_max")] == [3, 2, 1, 1e6, 2e6]
    assert values["loss"] == 1 / 3
    assert "rtt_min" not in values
    (block,) = tables.sample_blocks
    assert [*block.rtt_ns] == [2_000_000, None, None]
    assert [*block.status] == ["ok", "ok", "lost"]
    assert [*(block.high_ns or ())] == [3_000_000, 1_000_000, None]
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_macos_reply_after_its_timeout(read) -> None:
    """Typed after ping.c of network_cmds: ``-t``, SIGINFO, replies that came too late."""
    log = read(
        "PING 10.2.2.4 (10.2.2.4): 56 data bytes\n"
        "64 bytes from 10.2.2.4: icmp_seq=0 ttl=57 time=12.345 ms\n"
        "Request timeout for icmp_seq 1\n"
        "1/2 packets received (50.0%) 12.345 min / 12.345 avg / 12.345 max\n"
        "64 bytes from 10.2.2.4: icmp_seq=1 ttl=57 time=1100.000 ms\n"
        "64 bytes from 10.2.2.4: icmp_seq=2 ttl=57 time=13.001 ms\n\n"
        "--- 10.2.2.4 ping statistics ---\n"
        "3 packets transmitted, 2 packets received, 33.3% packet loss, 1 packets out of wait time\n"
        "round-trip min/avg/max/stddev = 12.345/12.673/13.001/0.328 ms\n"
    )
    assert log.runs[0]["dialect"] == "bsd"
    assert dict(zip(log.samples[0].seq, log.samples[0].rtt_ns, strict=True))[1] == 1_100_000_000
    assert (log.value("rtt_mean"), log.value("loss")) == (12_673_000, 1 / 3)
    assert log.unknown() == 0


def test_bsd_counts_more_replies_than_probes(read) -> None:
    log = read(
        "PING 10.2.2.4 (10.2.2.4): 56 data bytes\n--- 10.2.2.4 ping statistics ---\n"
        "2 packets transmitted, 3 packets received, -- somebody's printing up packets!\n"
        "round-trip min/avg/max/stddev = 12.345/12.673/13.001/0.328 ms\n"
    )
    assert "more_received_than_sent" in log.codes()
    assert log.value("loss") is None


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("cs", "64 bytů z 127.0.0.1: pořadí=1 TTL=64 čas=0,027 ms"),
        ("fi", "64 tavua kohteesta 127.0.0.1:sta: icmp_seq=1 ttl=64 aika=0.027 ms"),
        ("ka", "64 ბაიტი 127.0.0.1-დან: icmp_seq =1 ttl =64 დრო =0.027 ms"),
        ("ja", "64 バイト応答 送信元 127.0.0.1: icmp_seq=1 ttl=64 時間=0.027ミリ秒"),
        ("zh", "64 字节，来自 127.0.0.1: icmp_seq=1 ttl=64 时间=0.027 毫秒"),
        ("uk", "64 байтів з 127.0.0.1: icmp_seq=1 ttl=64 час=0.027 мс"),
    ],
)
def test_iputils_replies_in_languages_with_another_word_order(read, language: str, line: str) -> None:
    """The order and the commas are those that the format documents quote; where the words differ, they do not count."""
    log = read(HEADER + line + "\n" + summary(1, 1))
    assert (log.unknown(), [*log.samples[0].rtt_ns]) == (0, [27_000])


@pytest.mark.parametrize("seq", ["9223372036854775808", "1" + 30 * "0", "-1", "true"])
def test_an_impossible_sequence_number_is_an_unknown_line(read, seq: str) -> None:
    """JSON knows no longest number: what the text's rules would not read is not read from JSON either."""
    replies = [
        f'{{"bytes": 64, "host": "127.0.0.1", "seq": {number}, "ttl": 64, "time": "0.032"}}\n' for number in (1, seq)
    ]
    log = read("".join(replies))
    assert list(log.samples[0].seq) == [1]
    assert log.codes() == ["truncated", "unknown_line"]


PING = "PING h (10.2.2.4) 56(84) bytes of data.\n"
REPLY = "64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.338 ms"


def test_a_clock_set_back_makes_the_sample_void_and_the_summary_unusable() -> None:
    """Composed from ping_common.c, which prints 0 for a negative time and writes the warning to standard error."""
    warning = "ping: Warning: time of day goes back (-12us), taking countermeasures\n"
    lines = [REPLY, REPLY.replace("=1 ", "=2 ").replace("0.338", "0.000"), REPLY.replace("=1 ", "=3 ")]
    end = "\n--- h ping statistics ---\n3 packets transmitted, 3 received, 0% packet loss, time 2003ms\n"
    times = "rtt min/avg/max/mdev = 0.000/0.225/0.338/0.159 ms\n"
    for text in (PING + warning + "\n".join(lines) + "\n", PING + "\n".join(lines) + "\n"):
        tables = read_text(text + end + times)
        (block,) = tables.sample_blocks
        assert [*block.rtt_ns] == [338_000, None, 338_000]
        assert [*block.status] == ["ok", "void", "ok"]
        assert "clock_step" in event_codes(tables)
        assert tables.rows["sources"][0]["lines_unknown"] == 0
        values = metric_values(tables)
        assert values["rtt_max"] == 338_000
        assert not {"rtt_min", "rtt_mean", "rtt_sd"} & set(values)
    quiet = metric_values(read_text(PING + end + times))
    assert "rtt_mean" not in quiet and quiet["rtt_max"] == 338_000


def test_icmp_req_duplicates_and_recorded_routes_are_read() -> None:
    lines = [
        REPLY.replace("icmp_seq", "icmp_req"),
        REPLY + " (DUP!)",
        "RR: \t10.0.0.1",
        "\tgateway (10.0.0.2)",
        "",
        REPLY.replace("=1", "=2") + "\t(same route)",
    ]
    tables = read_text(PING + "\n".join(lines) + "\n")
    assert [*tables.sample_blocks[0].status] == ["ok", "duplicate", "ok"]
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def rtt_line(low: str, mean: str, high: str, deviation: str) -> str:
    return f"rtt min/avg/max/mdev = {low}/{mean}/{high}/{deviation} ms\n"


def summary_of(n: int, times: str, host: str = "10.2.2.4") -> str:
    return (
        f"\n--- {host} ping statistics ---\n{n} packets transmitted, {n} received, 0% packet loss, time 1000ms\n{times}"
    )


def test_two_pings_that_write_into_one_file_become_two_runs(read) -> None:
    replies = [reply(1, "0.101"), reply(1, "1.20"), reply(2, "0.103"), reply(2, "1.22")]
    replies[1], replies[3] = (line.replace("10.2.2.4", "10.2.2.5") for line in (replies[1], replies[3]))
    second = summary_of(2, rtt_line("1.200", "1.210", "1.220", "0.010"), "10.2.2.5")
    text = HEADER + HEADER.replace("10.2.2.4", "10.2.2.5") + "".join(replies)
    log = read(text + summary_of(2, rtt_line("0.101", "0.102", "0.103", "0.001")) + second)
    assert [(run["server"], run["status"]) for run in log.runs] == [("10.2.2.4", "complete"), ("10.2.2.5", "complete")]
    assert [log.value("rtt_mean", run) for run in (0, 1)] == [102_000, 1_210_000]
    assert [list(block.rtt_ns) for block in log.samples] == [[101_000, 103_000], [1_200_000, 1_220_000]]
    assert set(log.codes()) == {"mixed_runs"}


def test_a_summary_belongs_to_the_host_that_it_names(read) -> None:
    local = [reply(seq, "0.040").replace("10.2.2.4", "127.0.0.1") for seq in (1, 2)]
    log = read(
        HEADER + reply(1) + "".join(local) + summary_of(2, rtt_line("0.040", "0.040", "0.040", "0.000"), "127.0.0.1")
    )
    assert [(run["server"], run["status"]) for run in log.runs] == [
        ("10.2.2.4", "truncated"),
        ("127.0.0.1", "complete"),
    ]
    assert log.value("rtt_mean", 0) is None
    assert log.value("rtt_mean", 1) == 40_000


def test_more_replies_than_the_summary_counts_are_a_contradiction(read) -> None:
    log = read(HEADER + reply(1) + reply(2) + reply(3) + summary(2, 2))
    assert log.codes("error") == ["count_mismatch"]
    assert log.runs[0]["status"] == "failed"


@pytest.mark.parametrize(
    ("times", "codes"),
    [
        (("1.100", "3.866", "9.300", "3.842"), []),
        (("1.100", "8.866", "9.300", "3.842"), ["summary_mismatch"]),
        (("1.100", "3.866", "9.300", "3.142"), ["summary_mismatch"]),
        (("1.100", "3.866", "9.300", "3.942"), ["summary_mismatch"]),
    ],
)
def test_mean_and_deviation_are_compared_with_the_replies(read, times: tuple[str, ...], codes: list[str]) -> None:
    text = HEADER + reply(1, "1.10") + reply(2, "1.20") + reply(3, "9.30") + summary_of(3, rtt_line(*times))
    log = read(text)
    assert log.codes("error") == codes
    assert log.runs[0]["status"] == ("failed" if codes else "complete")


@pytest.mark.parametrize(
    ("second", "times", "names"),
    [
        ("1.20", ("1.100", "3.866", "9.300", "3.842"), []),
        ("1.20", ("1.100", "8.866", "9.300", "3.842"), ["avg"]),
        ("1.20", ("1.100", "3.866", "9.300", "3.142"), ["deviation"]),
        ("368", ("1.100", "3.866", "9.300", "3.842"), ["max", "avg"]),
        ("0.12", ("1.100", "3.866", "9.300", "3.842"), ["min", "avg"]),
    ],
)
@pytest.mark.parametrize(
    "lost", ["no answer yet for icmp_seq=4\n", "", "From 10.2.2.1 icmp_seq=4 Time to live exceeded\n"]
)
def test_lost_probes_do_not_switch_off_the_comparison_with_the_replies(
    read, second: str, times: tuple[str, ...], names: list[str], lost: str
) -> None:
    """A lost probe has a line, or only the counts say that it is lost, or a router answered instead."""
    end = summary(4, 3, loss="25", extra=", +1 errors" * lost.startswith("From")).partition("rtt")[0] + rtt_line(*times)
    log = read(HEADER + reply(1, "1.10") + reply(2, second) + reply(3, "9.30") + lost + end)
    assert [run["status"] for run in log.runs] == ["failed" if names else "complete"]
    told = [event["text"].split()[3] for event in log.tables.rows["events"] if event["code"] == "summary_mismatch"]
    assert told == names


def test_the_deviation_of_old_iputils_has_the_resolution_of_its_arithmetic(read) -> None:
    # 275 us in 6 replies: the mean of 45.83 is truncated to 45, so 8.95 is printed as 12.
    replies = "".join(reply(seq, f"0.0{us}") for seq, us in enumerate((47, 39, 41, 35, 51, 62), start=1))
    log = read(HEADER + replies + summary_of(6, rtt_line("0.035", "0.045", "0.062", "0.012")))
    deviation = log.metric("rtt_sd")
    assert deviation["value"] - deviation["resolution"] <= sqrt(480.83 / 5) * 1000 <= deviation["value"]
    assert log.codes() == ["mdev_overstated"]
    assert log.runs[0]["status"] == "complete"
    # The replies prove the deviation of a newer version.
    newer = read(HEADER + replies + summary_of(6, rtt_line("0.035", "0.045", "0.062", "0.009")))
    assert newer.metric("rtt_sd")["resolution"] < 2500
    assert newer.codes() == []
    # Without replies the version is unknown: the true deviation may be 0.
    alone = read(HEADER + summary_of(6, rtt_line("0.045", "0.045", "0.046", "0.008")))
    assert alone.metric("rtt_sd")["resolution"] == alone.value("rtt_sd")
    assert alone.codes() == []


@pytest.mark.parametrize("count", [1, 200])
def test_times_without_a_carry_are_corrected(read, count: int) -> None:
    replies = "".join(reply(1 + 3 * i) + reply(2 + 3 * i, "31.10") + reply(3 + 3 * i, "4.100") for i in range(count))
    log = read(HEADER + replies)
    assert list(log.samples[0].rtt_ns)[:3] == [300_000, 32_000_000, 5_000_000]
    assert list(log.samples[0].low_ns)[:3] == [None, 31_950_000, 4_995_000]
    assert list(log.samples[0].high_ns)[:3] == [None, 32_000_000, 5_000_000]
    assert "carry_restored" in log.codes("info")


@pytest.mark.parametrize(
    "text",
    [
        "PING a (10.2.2.4): 56 data bytes\n" + reply(0, "4.100") + reply(1, "31.123"),
        HEADER + reply(1, "4.100") + reply(2, "4.123"),
        "PING a (10.2.2.4): 56 data bytes\n" + reply(0, "4.100"),
        # The summary knows no reply of 5 ms.
        HEADER + reply(1, "4.100") + reply(2) + summary_of(2, rtt_line("0.300", "2.200", "4.100", "1.900")),
    ],
)
def test_times_with_three_decimals_have_a_carry(read, text: str) -> None:
    log = read(text)
    assert log.samples[0].rtt_ns[0] == 4_100_000
    assert "carry_restored" not in log.codes()


def test_replies_without_a_carry_agree_with_their_summary(read) -> None:
    text = HEADER + reply(1, "31.10") + reply(2, "31.0")
    log = read(text + summary_of(2, rtt_line("31.000", "31.482", "31.964", "0.482")))
    assert log.codes() == ["carry_restored"]


def test_a_deviation_of_nan_is_left_out(read) -> None:
    text = "PING a (10.2.2.4): 56 data bytes\n" + reply(0) + "\n--- a ping statistics ---\n"
    text += "1 packets transmitted, 1 packets received, 0.0% packet loss\nround-trip min/avg/max/stddev = "
    log = read(text + "0.300/0.300/0.300/nan ms\n")
    assert log.value("rtt_mean") == 300_000
    assert log.value("rtt_sd") is None
    assert log.runs[0]["status"] == "complete"


def test_the_bell_and_the_pipe_are_no_unknown_lines(read) -> None:
    log = read(HEADER + "\a" + reply(1) + summary(1, 1) + "pipe 3\n")
    assert list(log.samples[0].rtt_ns) == [300_000]
    assert log.unknown() == 0


def test_windows_in_traditional_chinese(read) -> None:
    log = read(
        "Ping 8.8.8.8 (使用 32 位元組的資料):\n回覆自 8.8.8.8: 位元組=32 時間=5ms TTL=117\n要求等候逾時。\n\n"
        "8.8.8.8 的 Ping 統計資料:\n    封包: 已傳送 = 2，已收到 = 1, 已遺失 = 1 (50% 遺失)，\n大約的來回時間 (毫秒):\n"
        "    最小值 = 5ms，最大值 = 5ms，平均 = 5ms\n"
    )
    assert log.runs[0]["dialect"] == "windows-zh_tw"
    assert (log.value("sent"), log.value("lost"), log.value("rtt_mean")) == (2, 1, 5_000_000)
    assert list(log.samples[0].status) == ["ok", "lost"]
    assert log.unknown() == 0


def test_json_with_a_comma_at_its_end_and_a_mark_of_duplicates(read) -> None:
    one = '{"bytes": 64, "host": "10.2.2.4", "seq": 1, "ttl": 64, "time": "0.300"}\n'
    end = '{"host": "10.2.2.4", "transmitted": 1, "received": 1, "duplicates": 1, "loss": 0, "time": 0, '
    end += '"rtt": {"min": "0.300", "avg": "0.300", "max": "0.300", "mdev": "0.000"}, "pipe": 2, }\n'
    log = read(one + "(DUP!)" + one.replace("}", ', "dup": 1}') + end)
    assert log.value("rtt_mean") == 300_000
    assert Counter(log.samples[0].status) == {"ok": 1, "duplicate": 1}
    assert log.unknown() == 0


@pytest.mark.parametrize("block", range(17))
def test_every_line_of_iputils_in_every_language(read, block: int) -> None:
    """Composed from the translations of iputils: cs, de, es, fi, fr, id, it, ja, ka, kab, ko, pt_BR, ro, tr, uk, zh."""
    texts = Path(__file__).with_name("ping_in_languages.txt").read_text(encoding="utf-8").split("PING ")[1:]
    assert len(texts) == 17
    log = read("PING " + texts[block])
    assert (log.unknown(), log.codes("warning"), log.runs[0]["status"]) == (0, [], "complete")
    assert log.runs[0]["server"] == "10.0.0.2"
    assert [log.value(name) for name in ("sent", "received", "duplicates", "corrupted", "errors")] == [5, 3, 1, 1, 1]
    assert [log.value(f"rtt_{name}") for name in ("min", "mean", "max")] == [432_000, 3_848_000, 12_400_000]
    assert list(log.samples[0].rtt_ns) == [432_000, 1_250_000, 1_310_000, None, None, 12_400_000]
    assert list(log.samples[0].status) == ["ok", "ok", "duplicate", "lost", "unreachable", "ok"]


def test_a_reply_in_brazilian_portuguese_without_a_colon(read) -> None:
    log = read(HEADER + "64 bytes de 10.2.2.4 icmp_seq=1 ttl=64 tempo=0.300 ms\n" + summary(1, 1))
    assert (log.unknown(), [*log.samples[0].rtt_ns]) == (0, [300_000])


def test_a_pipe_on_a_line_of_its_own(read) -> None:
    log = read("5 packets transmitted, 0 received, +5 errors, 100% packet loss, time 4000ms\npipe 3\n")
    assert (log.unknown(), log.value("lost"), log.runs[0]["status"]) == (0, 5, "complete")


def test_lone_lines_of_summaries_are_runs_of_their_own(tmp_path: Path) -> None:
    """Scripts keep the last line of each ping; who measured whom is unknown, and one path is assumed."""
    lines = ["rtt min/avg/max/mdev = 0.338/0.488/0.638/0.150 ms", "rtt min/avg/max/mdev = 0.348/0.498/0.648/0.150 ms"]
    (tmp_path / "a.log").write_text("\n".join(lines) + "\n")
    logs = az.parse(tmp_path / "a.log")
    assert list(logs.runs["status"]) == ["summary_only", "summary_only"]
    assert list(az.latency(logs)["mean_ns"]) == [488_000, 498_000]
    (estimate,) = estimates_of(az.summarize(az.latency(logs)))
    assert estimate.n == 2 and estimate.labels["assumed"] == "one_client one_server"


def test_a_line_that_hping3_prints_as_well_is_no_log_of_ping(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("round-trip min/avg/max = 0.4/0.5/0.6 ms\n")
    assert not len(az.parse(tmp_path / "a.log").runs)


def test_the_czech_summary_of_iputils_is_read(read) -> None:
    log = read(HEADER + summary(3, 3).replace("rtt min/avg/max/mdev", "RTT min/prům/max/std.odch"))
    assert log.value("rtt_max") == 400_000 and "unknown_line" not in log.codes()


@pytest.mark.parametrize("in_order", [True, False])
def test_the_summaries_of_two_hosts_are_two_runs(read, in_order: bool) -> None:
    """Somebody kept the times of the host that answered, and the counts of the one that did not."""
    kept = ["ox.ac.uk", "round-trip min/avg/max/stddev = 20.745/20.975/21.150/0.119 ms", "----", "gaia.cs.umass.edu"]
    lost = ["10 packets transmitted, 0 packets received, 100.0% packet loss"]
    log = read("\n".join(kept + lost if in_order else lost + kept) + "\n")
    statuses = ["summary_only", "complete"] if in_order else ["complete", "summary_only"]
    assert [run["status"] for run in log.runs] == statuses
    answered, silent = (log.runs[statuses.index(status)]["run_id"] for status in ("summary_only", "complete"))
    values = {(row["run_id"], row["metric"]): row["value"] for row in log.tables.rows["metrics"]}
    assert values[answered, "rtt_mean"] == 20_975_000
    assert (values[silent, "sent"], values[silent, "received"], values[silent, "loss"]) == (10, 0, 1)
    assert (silent, "rtt_mean") not in values


TITLES = "  SEQ HOST                                     SIZE TTL TIME       STATUS\n"
ROUTER = "[admin@edge1] > "


def routeros_row(seq: int, time: str, host: str = "10.0.0.4") -> str:
    return f"    {seq} {host:42}56  64 {time}\n"


def test_routeros_prints_microseconds(read) -> None:
    log = read(
        f"{ROUTER}ping 10.0.0.4 count=3\n{TITLES}{routeros_row(0, '13ms300us')}"
        f"    1 10.0.0.4                                                   timeout\n"
        f"{routeros_row(2, '9ms564us echo reply')}"
        "    sent=3 received=2 packet-loss=33% min-rtt=9ms564us avg-rtt=11ms432us\n   max-rtt=13ms300us\n"
        f"{ROUTER}ip route print\nFlags: D - DYNAMIC\n{ROUTER}"
    )
    (run,) = log.runs
    assert (run["status"], run["dialect"], run["client"], run["server"]) == (
        "complete",
        "routeros",
        "edge1",
        "10.0.0.4",
    )
    assert run["requested_count"] == 3
    assert [log.value(f"rtt_{name}") for name in ("min", "mean", "max")] == [9_564e3, 11_432e3, 13_300e3]
    assert ([*log.samples[0].rtt_ns], [*log.samples[0].status]) == ([13_300_000, None, 9_564_000], ["ok", "lost", "ok"])
    assert (log.value("lost"), log.codes("warning")) == (1, [])


def test_routeros_before_7_prints_whole_milliseconds(read) -> None:
    log = read(
        TITLES + routeros_row(0, "6ms") + routeros_row(1, "0ms")
        + "    sent=2 received=2 packet-loss=0% min-rtt=0ms avg-rtt=3ms max-rtt=6ms\n"
    )  # fmt: skip
    assert ([*log.samples[0].low_ns], [*log.samples[0].high_ns]) == ([6_000_000, 0], [7_000_000, 1_000_000])
    assert (log.value("rtt_min"), log.value("rtt_mean"), log.value("rtt_max")) == (None, 3e6, 6e6)
    assert (log.runs[0]["status"], log.codes()) == ("complete", ["below_resolution"])


def test_the_titles_and_summaries_within_a_long_run_of_routeros_are_of_that_run(read) -> None:
    rows = [routeros_row(seq, f"{seq + 1}ms1us") for seq in range(4)]
    summaries = [
        f"    sent={n} received={n} packet-loss=0% min-rtt=1ms1us avg-rtt={mean} max-rtt={n}ms1us\n"
        for n, mean in ((2, "1ms501us"), (4, "2ms501us"))
    ]
    text = TITLES + rows[0] + rows[1] + summaries[0] + TITLES + rows[2] + rows[3]
    log = read(text + summaries[1])
    assert ([run["status"] for run in log.runs], log.value("sent"), log.codes()) == (["complete"], 4, [])
    cut = read(text)
    assert ([run["status"] for run in cut.runs], cut.value("sent")) == (["truncated"], None)
    two = read(text + summaries[1] + TITLES + rows[0] + summaries[0].replace("=2", "=1").replace("1ms501us", "1ms1us"))
    assert [(run["first_line"], run["last_line"]) for run in two.runs] == [(1, 8), (9, 11)]


def test_a_summary_of_routeros_that_contradicts_its_replies_fails(read) -> None:
    log = read(
        TITLES + routeros_row(0, "1ms1us") + routeros_row(1, "3ms1us")
        + "    sent=2 received=2 packet-loss=0% min-rtt=1ms1us avg-rtt=9ms1us max-rtt=3ms1us\n"
    )  # fmt: skip
    assert log.runs[0]["status"] == "failed"


@pytest.mark.parametrize("reason", ["no route to host", "host unreachable", "packet too large"])
def test_routeros_says_why_a_probe_has_no_reply(read, reason: str) -> None:
    log = read(f"{TITLES}    0 10.0.0.4      {reason}\n    sent=1 received=0 packet-loss=100%\n")
    assert ([*log.samples[0].status], log.value("loss"), log.unknown()) == (["unreachable"], 1, 0)


def test_a_cut_log_of_routeros_is_not_complete_and_has_no_other_number(read) -> None:
    whole = (FIXTURES / "ping" / "typed-routeros.log").read_text("utf-8").partition("\n\n")[0]
    times, values = {13_300_000, 9_564_000, 978_000, None}, {row["value"] for row in read(whole).tables.rows["metrics"]}
    assert read(whole).runs[0]["status"] == "complete"
    for at in range(whole.index("STATUS"), len(whole)):
        log = read(whole[:at])
        assert "complete" not in {run["status"] for run in log.runs}, whole[:at][-60:]
        assert {rtt for block in log.samples for rtt in block.rtt_ns} <= times, whole[:at][-60:]
        assert {row["value"] for row in log.tables.rows["metrics"]} <= values, whole[:at][-60:]


def test_a_title_in_dashes_below_a_log_is_not_said_to_be_a_result(read) -> None:
    log = read("$ ping 10.2.2.4\n" + HEADER + reply(1) + summary(1, 1) + "\n--- VM to VM direct pings across br1 ---\n")
    assert (len(log.runs), "line_outside_log" in log.codes()) == (1, False)


@pytest.mark.parametrize(
    ("printed", "false", "status"),
    [
        ("56(84)", "36(84)", "failed"),  # 64 bytes are the 84 of the packet without 20 of IPv4
        ("56(84)", "59(84)", "failed"),
        (" 56(84)", ": 16", "failed"),
        (" 56(84)", ": 1400", "complete"),  # a host may cut what it sends back
        ("56(84)", "56(84)", "complete"),
    ],
)
def test_a_payload_that_the_replies_contradict_fails_the_run(printed: str, false: str, status: str) -> None:
    log = (
        "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n"
        "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1.25 ms\n\n"
        "--- 10.0.0.2 ping statistics ---\n"
        "1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
        "rtt min/avg/max/mdev = 1.250/1.250/1.250/0.000 ms\n"
    )
    text = log.replace(printed, false).replace(" bytes of data.", " data bytes" if ": " in false else " bytes of data.")
    assert first_run(read_text(text))["status"] == status


@pytest.mark.parametrize(
    ("times", "summary", "status"),
    [
        (("=60ms", "=64ms", "=80ms"), (60, 80, 68), "complete"),
        (("=60ms", "=64ms", "=80ms"), (60, 80, 62), "failed"),
        (("<1ms", "<1ms", "=3ms"), (0, 3, 1), "complete"),
        (("<1ms", "<1ms", "=3ms"), (2, 3, 2), "failed"),
        (("<1ms", "<1ms", "<1ms"), (0, 0, 0), "complete"),
        (("<1ms", "<1ms", "<1ms"), (0, 6, 0), "failed"),
    ],
)
def test_the_summary_of_windows_agrees_with_its_replies(
    times: tuple[str, ...], summary: tuple[int, int, int], status: str
) -> None:
    replies = "".join(f"Reply from 10.0.0.2: bytes=32 time{time} TTL=64\n" for time in times)
    text = (
        f"Pinging 10.0.0.2 with 32 bytes of data:\n{replies}\nPing statistics for 10.0.0.2:\n"
        "    Packets: Sent = 3, Received = 3, Lost = 0 (0% loss),\nApproximate round trip times in milli-seconds:\n"
        "    Minimum = {}ms, Maximum = {}ms, Average = {}ms\n".format(*summary)
    )
    assert first_run(read_text(text))["status"] == status


def test_a_summary_without_times_of_timed_replies_was_cut(read) -> None:
    """A payload of 8 bytes holds the time of FreeBSD, but not that of Linux."""
    log = (
        "PING6(56=40+8+8 bytes) ::1 --> ::1\n"
        "16 bytes from ::1, icmp_seq=0 hlim=64 time=0.053 ms\n"
        "16 bytes from ::1, icmp_seq=1 hlim=64 time=0.035 ms\n\n"
        "--- ::1 ping6 statistics ---\n2 packets transmitted, 2 packets received, 0.0% packet loss\n"
    )
    whole = read(log + "round-trip min/avg/max/std-dev = 0.035/0.044/0.053/0.009 ms\n")
    assert (whole.runs[0]["status"], read(log).runs[0]["status"]) == ("complete", "truncated")
    untimed = re.sub(r" time=\S+ ms", "", log)
    assert read(untimed).runs[0]["status"] == "complete"


def test_pings_that_could_not_start_are_failed_runs() -> None:
    """What cron wrote: a ping of eight probes, then two without a network."""
    log = (FIXTURES / "ping" / "iputils-20221126-s8.log").read_text("utf-8")
    failed = "ping: connect: Network is unreachable\n"
    tables = parse_source(source_from_bytes(f"{log}\n{failed}\n{failed}".encode(), "cron.log"))
    assert [run["status"] for run in tables.rows["runs"]] == ["complete", "failed", "failed"]
    tables = parse_source(source_from_bytes(failed.encode(), "cron.log"))
    assert [run["status"] for run in tables.rows["runs"]] == ["failed"]
