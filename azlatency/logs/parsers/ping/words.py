"""The words of ping by language, as patterns: Windows prints no code or number that would tell its lines apart.

The summary of iputils is read by structure; of its words only the counts behind a plus sign need a meaning.
"""

from __future__ import annotations


def _any(patterns: tuple[str, ...]) -> str:
    return "(?:" + "|".join(patterns) + ")"


#: Stems of the words behind ``+9`` in the summary.
COUNTS = {
    "duplicates": ("duplica", "dupliqué", "doublon", "duplikat", "yinelenen", "çift", "дублікат", "重複", "重复"),
    "errors": ("error", "erreur", "fehler", "erro", "hata", "помилк", "エラー", "错误", "chyb", "virhe"),
    "corrupted": ("corrupted", "corrompu", "beschädigt", "corrotti", "corrompido", "пошкоджен", "損傷", "损坏"),
}

_HOST = r"(\S+)(?: \[(\S+)\])?"

#: First line by language, with a literal of it. Groups: host, address where the host is a name, payload in bytes.
WINDOWS_HEADERS = {
    "en": ("Pinging ", rf"Pinging {_HOST} (?:from \S+ )?with (\d+) bytes of data:"),
    "de": ("Ping wird", rf"Ping wird ausgeführt für {_HOST} (?:von \S+ )?mit (\d+) Bytes(?: an)? Daten:"),
    "es": ("Haciendo ping", rf"Haciendo ping a {_HOST} (?:desde \S+ )?con (\d+) bytes de datos:"),
    "fr": (
        "Envoi d",
        rf"Envoi d.une requête .?[Pp]ing.?(?: sur)? {{1,2}}{_HOST} (?:de \S+ )?avec (\d+) octets de données ?:",
    ),
    "it": ("Esecuzione", rf"Esecuzione di Ping (?:di |a |su )?{_HOST} (?:da \S+ )?con (\d+) byte di dati:"),
    "pt": ("bytes de dados", rf"(?:Disparando|Fazendo ping em) {_HOST} (?:de \S+ )?com (\d+) bytes de dados:"),
    "pl": ("Badanie ", rf"Badanie {_HOST} z (\d+) bajtami danych:"),
    "ru": ("Обмен пакетами", rf"Обмен пакетами с {_HOST} (?:по )?с (\d+) байтами данных:"),
    "tr": ("ping atılıyor", rf"{_HOST} için ping atılıyor (\d+) bayt veriyle:"),
    "zh": ("正在 Ping", rf"正在 Ping {_HOST} 具有 (\d+) 字节的数据:"),
    "ja": ("に ping", rf"{_HOST} ?に ping を送信しています (\d+) バイトのデータ:"),
    "ko": ("바이트 데이터 사용", rf"Ping {_HOST} (\d+)바이트 데이터 사용:"),
    "nl": ("Pingen naar", rf"Pingen naar {_HOST} met (\d+) bytes(?: aan)? gegevens:"),
}

#: First line of the summary, with a literal of it; the group is the host.
WINDOWS_STATISTICS = {
    "Ping stat": r"Ping statistics for (\S+?):",
    "Ping-Stat": r"Ping-Statistik für (\S+?):",
    "Estadísticas": r"Estadísticas de ping para (\S+?):",
    "Statistiques": r"Statistiques Ping pour (\S+?) ?:",
    "Statistiche": r"Statistiche Ping per (\S+?):",
    "Estatísticas": r"Estatísticas do Ping para (\S+?):",
    "Statystyka": r"Statystyka badania ping dla (\S+?):",
    "Статистика": r"Статистика Ping для (\S+?):",
    "istatistikleri": r"(\S+) için Ping istatistikleri:",
    "统计信息": r"(\S+) 的 Ping 统计信息:",
    "ping 統計": r"(\S+) の ping 統計:",
    "Ping 통계": r"(\S+)에 대한 Ping 통계:",
    "statistieken": r"Ping-statistieken voor (\S+?):",
}

WINDOWS_TIMEOUTS = (
    _any(
        (
            "Request timed out",
            "Zeitüberschreitung der Anforderung",
            "Tiempo de espera agotado para esta solicitud",
            "Délai d.attente de la demande dépassé",
            "Richiesta scaduta",
            "Esgotado o tempo limite do pedido",
            "Upłynął limit czasu żądania",
            "Превышен интервал ожидания для запроса",
            "İstek zaman aşımına uğradı",
            "请求超时",
            "要求がタイムアウトしました",
            "요청 시간이 만료되었습니다",
            "Time-out bij opdracht",
        )
    )
    + "[.。]?"
)

#: Some router answered that nothing can be reached; Windows counts it as received.
WINDOWS_UNREACHABLE = (
    r".{1,120}: ?"
    + _any(
        (
            "Destination (?:host|net|network|port) unreachable",
            "Zielhost nicht erreichbar",
            "Zielnetz nicht erreichbar",
            "Host de destino inaccesible",
            "Red de destino inaccesible",
            "Impossible de joindre l.hôte de destination",
            "Host di destinazione non raggiungibile",
            "Host de destino inacessível",
            "Docelowy host jest nieosiągalny",
            "Заданный узел недоступен",
            "Hedef ana bilgisayara ulaşılamıyor",
            "无法访问目标主机",
            "宛先ホストに到達できません",
            "대상 호스트에 연결할 수 없습니다",
            "TTL expired in transit",
        )
    )
    + "[.。]?"
)

#: The line above the times.
WINDOWS_APPROXIMATE = (
    _any(
        (
            "Approximate round trip times in milli-seconds",
            r"Ca\. Zeitangaben in Millisek\.",
            "Tiempos aproximados de ida y vuelta en milisegundos",
            "Durée approximative des boucles en millisecondes",
            "Tempo approssimativo percorsi andata/ritorno in millisecondi",
            "Aproximar um número redondo de vezes em milissegundos",
            "Tempo aproximado de ida e volta em milissegundos",
            "Szacunkowy czas b.{1,2}dzenia pakiet.{1,3} w mil.{1,2}isekundach",
            "Приблизительное время при[её]ма-передачи в мс",
            r"Gidiş dönüş sürelerinin yaklaşık değeri \(milisaniye cinsinden\)",
            "Mili saniye türünden yaklaşık tur süreleri",
            r"往返行程的估计时间\(以毫秒为单位\)",
            r"ラウンド トリップの概算時間 \(ミリ秒\)",
            r"왕복 시간\(밀리초\)",
            "De gemiddelde tijd voor het uitvoeren van één bewerking in milliseconden",
        )
    )
    + " ?:"
)
