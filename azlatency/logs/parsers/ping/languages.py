"""The words of ping, one `Language` per language. To add a language, add one entry to `LANGUAGES`.

Windows prints no code that identifies a line, so its lines are recognised by their words. The lines of iputils are
recognised by their structure; only the words after the extra counts (``+9 duplicates``) and the unit of time matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_HOST = r"(\S+)(?: \[(\S+)\])?"


class Language(NamedTuple):
    """The words of one language. All fields but ``code`` are optional; the Windows fields are regular expressions.

    ``code`` is the ISO 639-1 code and becomes part of the dialect (``windows-de``).

    ``code_page`` is the code page of a Windows console in this language. A file that is not UTF-8 is decoded with it if
    the file contains one of ``code_page_phrases``: parts of the text with characters that are not ASCII, since a single
    such character would fit several code pages.

    Windows: ``header`` is the first line, with three groups (host, address if the host is a name, payload in bytes).
    ``header_literal`` is a literal that every such line contains; set it if the line does not contain "ing".
    ``statistics`` is the first line of the summary (group: host), ``timeouts`` the line of a lost probe,
    ``unreachable`` the text after the address of the router that reports an unreachable host, and ``times`` the line
    above the times.

    iputils: ``milliseconds`` are spellings of the unit besides "ms"; ``sequence`` is the name of the sequence number
    besides "icmp_seq"; ``no_answer`` is the line of a probe without an answer so far, with ``{}`` for its number;
    ``duplicate`` is the mark of a duplicate besides "DUP!"; ``duplicates``, ``errors`` and ``corrupted`` are lower-case
    stems of the words after an extra count.
    """

    code: str
    code_page: str = ""
    code_page_phrases: tuple[str, ...] = ()
    header: str = ""
    header_literal: str = "ing"
    statistics: str = ""
    timeouts: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    milliseconds: tuple[str, ...] = ()
    sequence: str = ""
    no_answer: str = ""
    duplicate: str = ""
    duplicates: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    corrupted: tuple[str, ...] = ()


LANGUAGES = (
    Language(
        "en",
        header=rf"Pinging {_HOST} (?:from \S+ )?with (\d+) bytes of data:",
        statistics=r"Ping statistics for (\S+?):",
        timeouts=("Request timed out",),
        unreachable=("Destination (?:host|net|network|port) unreachable", "TTL expired in transit"),
        times=("Approximate round trip times in milli-seconds",),
        no_answer="no answer yet for icmp_seq={}",
        duplicates=("duplica",),
        errors=("error",),
        corrupted=("corrupted",),
    ),
    Language(
        "de",
        code_page="cp850",
        code_page_phrases=("ausgeführt für", "Ping-Statistik für"),
        header=rf"Ping wird ausgeführt für {_HOST} (?:von \S+ )?mit (\d+) Bytes(?: an)? Daten:",
        statistics=r"Ping-Statistik für (\S+?):",
        timeouts=("Zeitüberschreitung der Anforderung",),
        unreachable=("Zielhost nicht erreichbar", "Zielnetz nicht erreichbar"),
        times=(r"Ca\. Zeitangaben in Millisek\.",),
        no_answer="noch keine Antwort für icmp_seq={}",
        duplicates=("duplikat",),
        errors=("fehler",),
        corrupted=("beschädigt",),
    ),
    Language(
        "es",
        code_page="cp850",
        code_page_phrases=("Estadísticas de ping",),
        header=rf"Haciendo ping a {_HOST} (?:desde \S+ )?con (\d+) bytes de datos:",
        statistics=r"Estadísticas de ping para (\S+?):",
        timeouts=("Tiempo de espera agotado para esta solicitud",),
        unreachable=("Host de destino inaccesible", "Red de destino inaccesible"),
        times=("Tiempos aproximados de ida y vuelta en milisegundos",),
        no_answer="aún sin respuesta para icmp_seq={}",
        duplicates=("duplica",),
        errors=("error",),
        corrupted=("corrompido", "corrupto"),
    ),
    Language(
        "fr",
        code_page="cp850",
        code_page_phrases=("requête", " données"),
        header=rf"Envoi d.une requête .?[Pp]ing.?(?: sur)? {{1,2}}{_HOST} (?:de \S+ )?avec (\d+) octets de données ?:",
        statistics=r"Statistiques Ping pour (\S+?) ?:",
        timeouts=("Délai d.attente de la demande dépassé",),
        unreachable=("Impossible de joindre l.hôte de destination",),
        times=("Durée approximative des boucles en millisecondes",),
        no_answer="encore aucune réponse pour icmp_seq={}",
        duplicate="DUPLIQUÉ !",
        duplicates=("dupliqué", "doublon"),
        errors=("erreur",),
        corrupted=("corrompu",),
    ),
    Language(
        "it",
        header=rf"Esecuzione di Ping (?:di |a |su )?{_HOST} (?:da \S+ )?con (\d+) byte di dati:",
        statistics=r"Statistiche Ping per (\S+?):",
        timeouts=("Richiesta scaduta",),
        unreachable=("Host di destinazione non raggiungibile",),
        times=("Tempo approssimativo percorsi andata/ritorno in millisecondi",),
        no_answer="nessuna risposta ancora per icmp_seq={}",
        duplicates=("duplica",),
        errors=("error",),
        corrupted=("corrotti",),
    ),
    Language(
        "pt",
        code_page="cp850",
        code_page_phrases=("Estatísticas do Ping",),
        header=rf"(?:Disparando|Fazendo ping em) {_HOST} (?:de \S+ )?com (\d+) bytes de dados:",
        header_literal="bytes de dados",
        statistics=r"Estatísticas do Ping para (\S+?):",
        timeouts=("Esgotado o tempo limite do pedido",),
        unreachable=("Host de destino inacessível",),
        times=(
            "Aproximar um número redondo de vezes em milissegundos",
            "Tempo aproximado de ida e volta em milissegundos",
        ),
        no_answer="nenhuma resposta ainda para icmp_seq={}",
        duplicates=("duplica",),
        errors=("erro",),
        corrupted=("corrompido",),
    ),
    Language(
        "pl",
        code_page="cp852",
        code_page_phrases=("Statystyka badania ping", "Upłynął limit", "błądzenia"),
        header=rf"Badanie {_HOST} z (\d+) bajtami danych:",
        header_literal="Badanie ",
        statistics=r"Statystyka badania ping dla (\S+?):",
        timeouts=("Upłynął limit czasu żądania",),
        unreachable=("Docelowy host jest nieosiągalny",),
        times=("Szacunkowy czas b.{1,2}dzenia pakiet.{1,3} w mil.{1,2}isekundach",),
        duplicates=("duplikat",),
    ),
    Language(
        "ru",
        code_page="cp866",
        code_page_phrases=("Обмен пакетами", "Статистика Ping", "Ответ от"),
        header=rf"Обмен пакетами с {_HOST} (?:по )?с (\d+) байтами данных:",
        header_literal="Обмен пакетами",
        statistics=r"Статистика Ping для (\S+?):",
        timeouts=("Превышен интервал ожидания для запроса",),
        unreachable=("Заданный узел недоступен",),
        times=("Приблизительное время при[её]ма-передачи в мс",),
        milliseconds=("мс", "мсек"),
    ),
    Language(
        "tr",
        code_page="cp857",
        code_page_phrases=("için Ping", "için ping", "baytlık"),
        header=rf"{_HOST} için ping atılıyor (\d+) bayt veriyle:",
        statistics=r"(\S+) için Ping istatistikleri:",
        timeouts=("İstek zaman aşımına uğradı",),
        unreachable=("Hedef ana bilgisayara ulaşılamıyor",),
        times=(
            r"Gidiş dönüş sürelerinin yaklaşık değeri \(milisaniye cinsinden\)",
            "Mili saniye türünden yaklaşık tur süreleri",
        ),
        no_answer="icmp_seq={} için henüz cevap yok",
        duplicate="YİNELENEN!",
        duplicates=("yinelenen", "çift"),
        errors=("hata",),
        corrupted=("bozuk",),
    ),
    Language(
        "zh",
        code_page="gbk",
        code_page_phrases=("正在 Ping", "的 Ping 统计信息", "的回复"),
        header=rf"正在 Ping {_HOST} 具有 (\d+) 字节的数据:",
        statistics=r"(\S+) 的 Ping 统计信息:",
        timeouts=("请求超时",),
        unreachable=("无法访问目标主机",),
        times=(r"往返行程的估计时间\(以毫秒为单位\)",),
        milliseconds=("毫秒",),
        no_answer="icmp_seq={} 未响应",
        duplicate="重复!",
        duplicates=("重复",),
        errors=("错误",),
        corrupted=("损坏",),
    ),
    Language(
        "ja",
        code_page="cp932",
        code_page_phrases=("に ping を送信", "からの応答", "の ping 統計"),
        header=rf"{_HOST} ?に ping を送信しています (\d+) バイトのデータ:",
        statistics=r"(\S+) の ping 統計:",
        timeouts=("要求がタイムアウトしました",),
        unreachable=("宛先ホストに到達できません",),
        times=(r"ラウンド トリップの概算時間 \(ミリ秒\)",),
        milliseconds=("ミリ秒",),
        no_answer="icmp_seq={} が未応答です",
        duplicate="重複!",
        duplicates=("重複",),
        errors=("エラー",),
        corrupted=("損傷", "破損"),
    ),
    Language(
        "ko",
        code_page="cp949",
        code_page_phrases=("에 대한 Ping 통계", "바이트 데이터 사용"),
        header=rf"Ping {_HOST} (\d+)바이트 데이터 사용:",
        statistics=r"(\S+)에 대한 Ping 통계:",
        timeouts=("요청 시간이 만료되었습니다",),
        unreachable=("대상 호스트에 연결할 수 없습니다",),
        times=(r"왕복 시간\(밀리초\)",),
        no_answer="아직 응답이 없습니다(icmp_seq={})",
        duplicate="중복!",
        duplicates=("중복",),
        errors=("오류",),
        corrupted=("손상",),
    ),
    Language(
        "nl",
        code_page="cp850",
        code_page_phrases=("één bewerking",),
        header=rf"Pingen naar {_HOST} met (\d+) bytes(?: aan)? gegevens:",
        statistics=r"Ping-statistieken voor (\S+?):",
        timeouts=("Time-out bij opdracht",),
        times=("De gemiddelde tijd voor het uitvoeren van één bewerking in milliseconden",),
    ),
    Language(
        "zh_tw",
        code_page="big5",
        code_page_phrases=("的 Ping 統計資料", "回覆自"),
        header=rf"Ping {_HOST} \(使用 (\d+) 位元組的資料\):",
        statistics=r"(\S+) 的 Ping 統計資料:",
        timeouts=("要求等候逾時",),
        unreachable=("目的地主機無法連線",),
        times=(r"大約的來回時間 \(毫秒\)",),
        no_answer="icmp_seq={} 尚未有答案",
        errors=("錯誤",),
    ),
    Language(
        "cs",
        sequence="pořadí",
        no_answer="žádná odpověď pro pořadí={}",
        duplicate="DUPL!",
        duplicates=("duplikát",),
        errors=("chyb",),
        corrupted=("poškozen",),
    ),
    Language(
        "fi",
        no_answer="ei vielä vastausta icmp_seq={}:lle",
        duplicate="Kaksoiskappale!",
        duplicates=("kaksoiskappale",),
        errors=("virhe",),
        corrupted=("vioittu",),
    ),
    Language("id", no_answer="belum ada jawaban untuk icmp_seq={}", corrupted=("korup",)),
    Language(
        "ka",
        milliseconds=("მწმ",),
        sequence="icm_seq",
        no_answer="პასუხის გარეშე. icmp_sql={}",
        duplicates=("ასლი",),
        errors=("შეცდომა",),
        corrupted=("გაფუჭებული",),
    ),
    Language("kab", milliseconds=("mts",), errors=("tuccḍiw",)),
    Language("ro", no_answer="niciun răspuns încă pentru icmp_seq={}", errors=("erori",), corrupted=("corupt",)),
    Language(
        "uk",
        milliseconds=("мс",),
        no_answer="відповідь для icmp_seq={} ще не отримано",
        duplicate="ДУБЛЮВАННЯ!",
        duplicates=("дублікат",),
        errors=("помил",),
        corrupted=("пошкоджен",),
    ),
)


def any_of(patterns: Iterable[str]) -> str:
    """Return a regular expression that matches any of the patterns, each tried once and in their order."""
    return "(?:" + "|".join(dict.fromkeys(patterns)) + ")"


MILLISECONDS = any_of(["ms", *(word for language in LANGUAGES for word in language.milliseconds)])

SEQUENCE = any_of(["icmp_seq", *(language.sequence for language in LANGUAGES if language.sequence)])
NO_ANSWER = (
    any_of(re.escape(language.no_answer).replace(r"\{\}", r"\d{1,10}") for language in LANGUAGES if language.no_answer)
    + "[.。]?"
)
DUPLICATE = any_of(["DUP!", *(language.duplicate for language in LANGUAGES if language.duplicate)])

#: Stems of the words after an extra count of the summary, by the metric that the count becomes.
COUNT_STEMS = {
    metric: tuple(stem for language in LANGUAGES for stem in getattr(language, metric))
    for metric in ("duplicates", "errors", "corrupted")
}

WINDOWS_HEADERS = {language.code: language.header for language in LANGUAGES if language.header}
WINDOWS_STATISTICS = "|".join(language.statistics for language in LANGUAGES if language.statistics)
WINDOWS_TIMEOUT = any_of(text for language in LANGUAGES for text in language.timeouts) + "[.。]?"
WINDOWS_UNREACHABLE = (
    r".{1,120}: ?" + any_of(text for language in LANGUAGES for text in language.unreachable) + "[.。]?"
)
WINDOWS_TIMES = any_of(text for language in LANGUAGES for text in language.times) + " ?:"

CODE_PAGE_PHRASES: dict[str, tuple[str, ...]] = {}
for _language in LANGUAGES:
    if _language.code_page:
        CODE_PAGE_PHRASES[_language.code_page] = (
            *CODE_PAGE_PHRASES.get(_language.code_page, ()),
            *_language.code_page_phrases,
        )
