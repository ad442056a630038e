"""What the names of files and folders, and the labels above logs, say about runs: repeats or different treatments.

A part of a name counts repeats if a word says so (``run3``, ``round_2``, ``Lauf 1``), or if it is a date or a time. The
last number of a name may count repeats, too (``cubic_1.log`` … ``cubic_4.log``), unless it names a thing or a setting
(``client_1``, ``loss_5``, ``5_attackers``). Some parts count only as a series: ``r1``, ``r2``, ``r3`` are repeats, and
``r5``, ``r6`` are types of machines. Every other part tells runs apart. See ``docs/concepts/repeats.md``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache, partial
from itertools import cycle, islice, takewhile
from typing import NamedTuple

from azlatency.studies.manifest.path_pattern import AZURE_REGION, CLOUD_ZONE


def _unaccented(text: str) -> str:
    """Return a text of the same length without accents: "miercoles" for "miércoles"."""
    parts = ["" if each.isascii() else unicodedata.normalize("NFD", each) for each in text]
    return "".join(
        part[0] if part[1:] and unicodedata.combining(part[1]) else each for part, each in zip(parts, text, strict=True)
    )


def _words_in(text: str) -> frozenset[str]:
    """Return the words of a text, long ones also without their accents; "lần" is none of "lan"."""
    words = text.casefold().split()
    return frozenset(words).union(_unaccented(word) for word in words if len(word) > _SHORTEST_FOLDED)


_SHORTEST_FOLDED = 3
#: Words whose number counts repeats, and words that mean nothing more without one.
_COUNTERS = (
    "run runs rep reps repeat repeats repetition round iter iteration trial try attempt take again rerun retest redo"
)
_REPEATS_TEXT = f"""
    {_COUNTERS} seq shot rnd lauf läufe messung durchlauf durchgang wiederholung versuch runde essai passage mesure
    répétition tour tir tentative exécution prueba intento repetición ronda corrida medición ejecución rodada execução
    tentativa teste repetição medição prova giro ripetizione tentativo misura poging ronde meting herhaling próba
    powtórzenie pomiar runda deneme tekrar tur ölçüm wdh mätning körning försök pokus měření mittaus lần percobaan
    запуск попытка прогон тест повтор раунд замер 次 回 回目 轮 輪 遍 測定 测试 试验 測試 运行 運行 試行 テスト 実行
    日目 회 회차 차 차수 테스트 실행 시도
"""
#: The same for times. A bare number in front of one of these is a duration: ``24 hour``.
_TIMES_TEXT = """
    day week night hour dia gun kw wk tag woche nacht stunde jour semaine nuit heure día semana noche hora noite giorno
    settimana notte ora uur dzień gün день неделя ночь час
"""
_TIMES = _words_in(_TIMES_TEXT)
_BARE = _words_in(_REPEATS_TEXT) | {"bis", "ter"}
_REPEATS = _TIMES | _BARE
#: Words whose numbers count repeats without a gap, as those of ``r`` do; ``session_1``, ``session_64``: how many.
_GAPLESS_TEXT = """
    session sess sitting exec execution invocation occasion observation obs measurement meas mes serie series sample
    sesión sessão sessione sessie sesja sitzung séance messreihe beobachtung aufnahme ausführung observación medida
    misurazione esecuzione osservazione relevé сессия сеанс серия измерение
"""
_GAPLESS = _words_in(_GAPLESS_TEXT)
#: A number glued to one of these counts repeats, if it counts at all.
_RESULTS_TEXT = """
    latency lat rtt measure bench benchmark perf bandwidth bw throughput tput file stats tcp_lat echo cilium iostat copy
    test tests samples pass no nr old new pre post up down upload download tx rx baseline before after idle
    reference vanilla vorher nachher avant après antes después amostra muestra nohup putty
"""
#: The same for what a run leaves, which no one lists by letters: ``result_a``, ``result_b``, ``result_c``.
_OUTPUTS_TEXT = """
    result results res output out log logs data dump capture measurement measurements report trace snapshot record
    records evaluation stdout stderr ergebnis ergebnisse ausgabe protokoll resultado salida resultat
    typescript wynik wyniki risultato risultati
"""
_OUTPUTS = frozenset(_OUTPUTS_TEXT.split())
_TOOLS_TEXT = """
    iperf iperf3 iperf2 netperf sockperf qperf ntttcp lagscope latte psping fping hping hping3 mtr uperf wrk wrk2 ncps
    fio ping ping6 flent
"""
_TOOLS = frozenset(_TOOLS_TEXT.split())
_RESULTS = _OUTPUTS.union(_TOOLS, _words_in(_RESULTS_TEXT))
#: Tools whose names end with a digit, and these without it: the number of ``iperf31`` is 1 or 31.
_WITH_DIGIT = sorted(tool for tool in _TOOLS if tool[-1].isdecimal())
_GLUED = [*_WITH_DIGIT, *sorted({tool[:-1] for tool in _WITH_DIGIT})]
#: A number that stands behind, or before, one of these names it or sets it.
_THINGS_TEXT = """
    setting parameter param arg value val machine client server host node vm vms pod container instance peer user zone
    az región rack site dc datacenter subnet vnet vpc nic port ports eth if core cpu cpus thread process proc worker
    stream parallel connection conn flow socket job size byte msg message packet pkt payload frame mtu mss window win
    buffer buf queue depth qd loss delay jitter rate limit rps qps pps cps load level stage phase step part section
    versión ver v kernel config conf cfg case scénario setup set variant option mode type kind profile policy exp
    experiment group cluster env link path route hop ttl interval duration time timeout second sec s ms us min minute
    attacker victim sender receiver source src target dst dest destination from to gateway switch router device dev
    disk volume vol pair percent pct p q n m k x id batch numjobs iodepth concurrency request req response resp users
    clone branch build release priority class dscp vlan tenant subscription account distance km mbit gbit mbps gbps kb
    mb gb kib mib gib b srv svr pc board card slot vf pf isp provider carrier ap sta ue cell gnb antenna channel probe
    agent room floor building lab location place position pos spot point area city country cabinet numa ring irq svc
    shard replica follower rule approach strategy solution topology topo ratio factor weight speed customer company
    team network rechner maschine knoten standort kunde netz netzwerk szenario stufe gruppe schritt teil größe grösse
    groesse faden prozess verbindung paket puffer verlust verzögerung grenze ebene kern konfiguration fall einstellung
    wert modus art profil pfad strecke weg dauer angreifer empfänger quelle ziel gerät platte paar anzahl nutzer
    benutzer klasse entfernung raum gebäude ort servidor cliente nodo máquina equipo escenario hilo proceso conexión
    paquete tamaño pérdida retardo retraso tasa límite nível etapa fase paso parte núcleo configuración caso ajuste
    parámetro modo tipo perfil grupo enlace ruta salto duración tiempo atacante emisor receptor origen destino
    dispositivo disco par usuário rama clase distancia puerto sitio zona ubicación carga serveur nœud noeud poste hôte
    fil processus connexion paquet taille perte délai débit niveau étape partie noyau cas réglage paramètre groupe lien
    chemin saut durée attaquant émetteur récepteur appareil disque paire utilisateur branche classe réseau charge lieu
    nó cenário processo conexão pacote tamanho perda atraso taxa versão configuração rota tempo alvo rede porta
    macchina filo connessione pacchetto dimensione perdita ritardo livello passo versione profilo gruppo percorso
    utente sito carico eni karte carte tarjeta câble kabel salle sala bâtiment edificio piso étage сервер клиент узел
    хост машина поток процесс пользователь сценарий группа этап порт сеть зона 服务器 客户端 节点 機器 机器 线程 进程
    连接 用户 场景 组 阶段 配置 站点 サーバ サーバー クライアント ノード 拠点 端末 서버 클라이언트 노드 gw dns ns mx
    mail smtp web www ntp proxy lb cache db database broker api app frontend backend dist datacentre pop edge hub spoke
    campus office home hq town metro fw firewall rtr bgload noise tier prio qos nconn pktsize msgsize bufsize blksize
    winsize backlog coalesce rank gain scale poll tunnel relay bridge phone mobile handset modem satellite vpn overlay
    underlay trunk bond circuit wire fiber fibre transit exchange pool nodepool namespace deployment function lambda
    hypervisor guest enclosure shelf cage aisle row hall seat desk watch camera vehicle car bus train plane uav rover
    buoy turbine meter plc hmi gnodeb enb enodeb rsu obu repeater mesh haul fronthaul backhaul wan lan wlan ssid bssid
    band rat tech avset fd ud lag sa pr mr spine leaf blade chassis adapter vif hostpair endpoint sim sensor drone
    robot computer laptop serwer komputer węzeł maszyna klient sunucu istemci düğüm makine kamer knooppunt locatie nod
    dator uzel počítač stroj вузол клієнт máy palvelin solmu kone κόμβος διακομιστής 主机 机房 虚拟机 ordinateur
    chambre zimmer stockwerk figure fig task question exercise leitung filiale oda usec msec nsec cstate pstate rxq txq
    osd slice station controller coordinator module terminal tower sector segment unit resolver reflector runner
    producer consumer publisher subscriber tablet warehouse shop partition olt onu ont kiosk truck panel engine master
    slave member neighbor neighbour
"""
_THINGS = _words_in(_THINGS_TEXT)
#: Shorter words end others by chance: "transport", "monitoring".
_SHORTEST_END = 5
#: And these end kinds of treatments: "haproxy", "podnetwork".
_ENDS_OF_TREATMENTS = frozenset({"proxy", "route", "network", "endpoint", "tunnel", "bridge", "relay"})
_ENDS_OF_COMPOUNDS = sorted(
    {"size", "node", "rate", "flow"}.union(
        thing for thing in _THINGS if len(thing) >= _SHORTEST_END or (len(thing) > 1 and not thing.isascii())
    )
    - _ENDS_OF_TREATMENTS
)
#: A compound: ``webserver``, ``blocksize``, ``Testrechner``; but "nodelay" and "upstream" are treatments.
_COMPOUND = re.compile(
    r"(?!(?:no|non|with|without|mit|ohne|avec|sans|con|sin|com|sem|multi|single|up|down|old|new|high|low|same|cross|intra"
    rf"|inter)(?:{'|'.join(_ENDS_OF_COMPOUNDS)})$)[^\W\d]+(?:{'|'.join(_ENDS_OF_COMPOUNDS)})"
)
#: Words that stand before a thing in the name of a placement: ``intra-zone_1`` beside ``inter-zone_1`` is no zone.
_RELATIONS = frozenset({"same", "different", "diff", "cross", "intra", "inter"})
#: A count of things: ``nthreads``, ``numcpus``, ``maxconn``.
_COUNT_OF = re.compile(r"(?:num|max|min|n)(?P<thing>[^\W\d_]{3,})")
#: Regions of clouds, or their last word: ``eastus``, ``europe-west``. A number behind one is that of a zone.
_REGION = re.compile(rf"{AZURE_REGION}|(?:north|south)?(?:east|west|north|south|central)\d?")

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|okt(?:ober)?|dez(?:ember)?|janvier|février|mars"
    r"|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    r"|sept?iembre|octubre|noviembre|diciembre)"
)
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_CLOCK = r"(?:[01]?\d|2[0-3])"
#: A time behind a date.
_AT = (
    rf"(?:(?:[T_ .-]{{0,3}}| at | um | à | às | a las ){_CLOCK}[-:_.h]?[0-5]\d"
    r"(?:[-:_.m]?[0-5]\d(?:[.,]\d{1,9}|[-_](?:\d{6}|\d{9}|\d{3}(?=z)))?s?)?(?:[ _]?[ap]m)?"
    r"(?:[ _]?(?:z|utc|gmt)|[+-]\d\d[-:_]?\d\d)?(?:[-_.][0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})?)?"
)
#: Dates and times: with a date, a colon or a unit. Four digits alone are a size.
_TIME = re.compile(
    # With an hour, as logrotate names files each hour: ``ping.log-2025100608``.
    r"(?<![0-9])(?:19|20)\d\d(?P<sign>-?)(?:0[1-9]|1[0-2])(?P=sign)(?:0[1-9]|[12]\d|3[01])(?:[-T]|(?<=\d{8}))"
    r"(?:[01]\d|2[0-3])(?![\w:-]|\.\d)|"
    rf"(?<![0-9])(?:19[789]|20[0-3])\d[-_. ]?(?:0[1-9]|1[0-2])[-_. ]?(?:0[1-9]|[12]\d|3[01]){_AT}(?![0-9])"
    r"|(?<![a-z0-9])20[12]\d-(?:[0-2]\d\d|3[0-5]\d|36[0-6])(?![\w-])|(?<![a-z0-9])\d{4,14}_?(?:utc|gmt)(?![a-z0-9])"
    # A date of six digits, such as 260131; sizes such as 131072 and 262144 are none.
    rf"|(?<![a-z0-9.])(?:1[89]|2\d|3[0-5])(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]){_AT}(?![a-z0-9.])"
    rf"|(?<![0-9])(?:(?:0?[1-9]|[12]\d|3[01])[-_.]){{2}}(?:19|20)\d\d{_AT}(?![0-9])"
    rf"|(?<![0-9])(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])20[0-3]\d{_AT}(?![0-9])"
    rf"|(?<![a-z0-9])(?:{_WEEKDAY})?\d{{1,2}}[-_. ]{{0,2}}(?:de )?{_MONTH}(?:[-_. ]?(?:19|20)?\d\d)?{_AT}"
    r"(?![a-z0-9])"
    rf"|(?<![a-z0-9])(?:{_WEEKDAY})?{_MONTH}[-_. ]?\d{{1,2}}(?:[-_., ]{{1,2}}(?:19|20)\d\d)?{_AT}(?![a-z0-9])"
    # What date prints in any language: "Sa 31. Jan 10:15:00 CET 2026", "sam. 31 janv. 2026 10:15:00 CET".
    r"|(?<![\w.])(?:[^\W\d_]{2,12}[.,]{0,2} )?\d{1,2}\.? (?:de )?[^\W\d_]{3,12}[.,]{0,2} (?:de )?"
    rf"(?:20\d\d,? {_CLOCK}:[0-5]\d:[0-5]\d(?: [A-Z]{{2,5}})?|{_CLOCK}:[0-5]\d:[0-5]\d(?: [A-Z]{{2,5}})? 20\d\d)(?!\w)"
    r"|(?<![0-9])(?:(?:19|20)\d\d ?[年년] ?)?\d{1,2} ?[月월] ?\d{1,2} ?[日일]"
    # No part of a MAC address or of IPv6.
    rf"|(?<![0-9])(?<![0-9a-f]{{2}}:){_CLOCK}:[0-5]\d(?::[0-5]\d(?:\.\d{{1,9}})?)?(?:[ _]?[ap]m)?(?![0-9:])"
    r"|(?<![0-9-])(?:[01]\d|2[0-3])-[0-5]\d-[0-5]\d(?![0-9-])"
    rf"|(?<![a-z0-9])(?:{_CLOCK}h[0-5]\d(?:m(?:[0-5]\ds?)?)?|{_CLOCK}[ _-]?uhr|(?:0?[1-9]|1[0-2])[ _]?[ap]m)"
    r"(?![a-z0-9])"
    rf"|(?<![a-z0-9])(?:on )?{_WEEKDAY}(?![a-z0-9])"
    r"|(?<![^\W\d_])(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi"
    r"|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)(?![^\W\d_])"
    # Seconds, milliseconds or nanoseconds since 1970, from 2014 on; a round number is a size.
    r"|(?<![a-z0-9])(?:19|20)\d\d-?W(?:0[1-9]|[1-4]\d|5[0-3])(?:-?[1-7])?(?![a-z0-9])"
    r"|(?<![0-9])(?!\d{4}0{6}(?!\d))1[4-9]\d{8}(?:\d{3}|\d{9})?(?![0-9])",
    re.IGNORECASE,
)


_TIME = re.compile(_unaccented(_TIME.pattern), _TIME.flags)
_LEVELS = re.compile(r"[/!\\]")
#: A date whose parts are folders, and a time in the folder below a date: ``2026/01/31/``, ``2026-01-31/10-15-00/``.
_DATE_FOLDERS = re.compile(
    r"(?<![^/!\\])(?:19|20)\d\d[-/]\d\d[-/]\d\d(?:/(?:\d\d[-_:]\d\d(?:[-_:]\d\d)?|[0-2]\d[0-5]\d[0-5]\d))?(?=[/!\\.])"
)
#: Endings of files, one behind the other: ``.ping.log.gz``, and ``.log.1`` of a log that was rotated. Another word
#: behind a point may tell runs apart: ``ping.before``, ``iperf3.eth0``.
_ENDING = re.compile(
    r"(?:\.(?:log|txt|text|out|stdout|err|stderr|json|csv|tsv|dat|data|raw|res|results?|xml|html?|md|markdown|mdx|rst|adoc|org"
    r"|ya?ml|ipynb|asc|prn|ping|iperf[23]?|sockperf|qperf|netperf|ntttcp|lagscope))*(?:\.(?:gz|bz2|xz|zst))?"
    r"(?=(?:\.\d{1,3})?$)",
    re.IGNORECASE,
)
#: What a desktop adds to the name of a copy: ``ping - Copy (2)``, ``ping copy 2``.
_COPY = re.compile(
    r"(?: - (?:copy|kopie|copie|copia|cópia|kopia|копия|副本)| copy)(?=$| \d{1,3}$| \(\d{1,3}\)$)"
    r"| \((?:(?:another|\d{1,3}(?:st|nd|rd|th)) )?copy(?: \d{1,3})?\)$",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"[^\s:*?\"'`<>|$()\[\]{}]{2,200}")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
#: A MAC address; a zone or region of a cloud, or a port of a switch; a number with a point, such as a version or an
#: address; a word with its digits and with the sign in front of it or behind it, such as ``offload-``; an arrow back.
_TOKEN = re.compile(
    rf"(?<![a-z0-9])(?:(?:[0-9a-f]{{2}}[-:]){{5}}[0-9a-f]{{2}}|{CLOUD_ZONE}|[a-z]{{2}}(?:-[a-z]{{3,4}})?-(?:north|south|east|west|central){{1,2}}-\d|(?:gi|ge|te|xe|fa)\d(?:-\d{{1,2}}){{1,2}})(?![a-z0-9])"
    rf"|v?\d+\.\d+\.\d+-\d+(?![\d.])|v?\d+(?:\.\d+)+[^\W_]*"
    rf"|第?\d+[{_CJK}]+|[{_CJK}]+?(?=第?\d+[{_CJK}])|[{_CJK}]+\d*"
    rf"|(?:(?<=[_=])[+-])?[^\W_{_CJK}]+(?:(?<!\d)[+-](?=[_\s]|$))?|(?<![^\W_])\+|<-|←",
    re.IGNORECASE,
)
#: A sign that numbers what follows; behind a thing, it names it: ``eu-us #1``, but ``client #1``.
_NUMERO = re.compile(r"(?:(?<![^\W_])[#№]|(?<![^\W_])(?P<n>n)°) ?$", re.IGNORECASE)
_SHAPE = re.compile(r"[^\W\d_]\d{1,3}\.$")
_ASSIGNED = re.compile(r"=$|\w\[$")
#: A counter with its word at the end of a name in camel case: ``CubicRun1``.
_CAMEL = re.compile(
    r"(?P<rest>\w*[a-z0-9])(?P<counter>(?:Run|Rep|Repeat|Iter|Iteration|Trial|Round|Try|Attempt)\d{1,9})"
)
_NUMBERED = re.compile(r"(?P<word>[^\W\d]+)(?P<number>\d{1,9})")
_CHINESE = re.compile(r"(?P<word>\w+?)[一二三四五六七八九十]{1,3}")
_ORDINAL = re.compile(
    r"第?(?P<number>\d{1,9})(?:st|nd|rd|th|er|e|eme|ème|a|o)?(?P<word>[^\W\d_]*)"
    r"|第[一二三四五六七八九十]{1,3}(?P<counted>\w+)"
)
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_ALPHANUMERIC, _DIGITS = re.compile(r"[^\W_]+"), re.compile(r"\d+")
#: A word and what it negates: ``nofirewall``, ``without_firewall``.
_NEGATED = re.compile(
    r"(?<![^\W\d_])(?:no|non|not|un|without|ohne|sans|sin|senza|sem|zonder|bez)[\W_]?(?P<word>[^\W\d_]{3,})"
)
_letters = partial(re.compile(r"[\W\d_]+").sub, "")
_K_OF_N = re.compile(r"(?P<word>[^\W\d]*)\d{1,9}of\d{1,9}")
#: These stand in front of what they count, too: ``first_run``.
_SPELLED_ORDINALS_TEXT = """
    first second third fourth fifth sixth seventh eighth ninth tenth erster zweiter dritter vierter erste zweite dritte
    vierte premier première deuxième troisième quatrième primer primera segundo segunda tercer tercera cuarta primeiro
    primeira terceiro terceira quarta secondo seconda terzo terza
"""
_SPELLED_ORDINALS = _words_in(_SPELLED_ORDINALS_TEXT)
#: Words that count if all words in one place of names are some of them, in order and without a gap: months and days
#: of a week from any on, and numbers from the first on, at the end of a name.
_CALENDARS = [
    _unaccented(words).split()
    for words in (
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jan feb mrz apr mai jun jul aug sep okt nov dez",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "mo di mi do fr sa so",
        "lun mar mer jeu ven sam dim",
        "lun mar mie jue vie sab dom",
        "lun mar mer gio ven sab dom",
        "seg ter qua qui sex sab dom",
        "ma di wo do vr za zo",
    )
]
_SPELLED_SERIES = [
    words.split()
    for words in ("one two three four five six seven eight nine ten", "eins zwei drei vier", "uno dos tres cuatro")
]
_ORDINAL_SERIES = [
    _unaccented(words).split()
    for words in (
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th",
        "erste zweite dritte vierte",
        "première deuxième troisième",
        "primera segunda tercera",
    )
]
_SPELLED_NUMBERS = {word: number for words in _SPELLED_SERIES for number, word in enumerate(words, start=1)}
_SPELLED = _SPELLED_NUMBERS.keys() | {"i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"}
#: Words that are counted if they are numbered so: ``sample1of6``, ``first_test``.
_COUNTED = _REPEATS | _GAPLESS | {"test"}
#: Words and letters for the ends of a path. A number behind two of them counts: ``client-server-1``, ``a_to_b_1``.
_ENDS_TEXT = "client server sender receiver source src destination dst dest host target a b c d e f"
_ENDS = frozenset(_ENDS_TEXT.split())
_PROTOCOLS = frozenset(["tcp", "udp", "icmp", "sctp", "quic", "http", "https", "tls"])
#: Members of series: ``r1``, ``session_1``, ``run_a``, ``00h``, ``31.1.26``, and two numbers that may be a
#: month and a day, or an hour and a minute.
_SERIES = re.compile(
    rf"(?<![^\W_])(?:(?:(?P<r>r)|(?P<word>{'|'.join(sorted(_GAPLESS))}))[ _-]?\d{{1,9}}(?![^\W_]|\.\d)"
    rf"|(?P<letter>{'|'.join(_COUNTERS.split())})[ _-][a-z]$"
    r"|(?P<hour>(?:[01]\d|2[0-3])h$)|(?P<date>\d{1,2}\.\d{1,2}\.(?:1[4-9]|2\d|3[0-5]))(?![^\W_]|[.-]\d)"
    r"|(?<!-)(?P<pair>\d\d-\d\d)(?![\w-]))",
    re.IGNORECASE,
)
#: A letter behind a word.
_LETTERED = re.compile(r"(?<![^\W_])(?P<word>[^\W_]+)[ _-](?P<letter>[a-z])$", re.IGNORECASE)
#: Words that name no place, whose zones may have letters, and nothing else that has parts.
_CONDITIONS_TEXT = """
    on off idle loaded unloaded busy quiet stock default tuned untuned patched unpatched original modified optimized
    cold warm old new before after baseline reference vanilla vorher nachher avant après antes después cubic reno bbr
    vegas dctcp tcp udp quic sctp enabled disabled encrypted plain with without
"""
_CONDITIONS = _words_in(_CONDITIONS_TEXT)
_ITERATION = re.compile(r"it\d{1,4}", re.IGNORECASE)
_LONGEST_MEMBER = 255
#: Two letters may be two treatments, and so may two numbers with a gap.
_FEWEST_WORDS, _FEWEST_OF_R = 3, 4
#: Words that number what a person lists.
_NUMBERED_LABEL = re.compile(
    r"\b(?:test|pass|no|nr|n[°º.]|table|tab|figure|fig|example|output|result|log)[ .#-]{0,3}\d{1,9}\b",
    re.IGNORECASE,
)
#: Labels that are nothing but an ordinal.
_ORDINAL_ALONE = re.compile(
    rf"\W*(?:\d{{1,3}}(?:st|nd|rd|th)|{'|'.join([*_SPELLED, *sorted(_SPELLED_ORDINALS)])})\W*",
    re.IGNORECASE,
)
#: What says that a run repeats the one above it, or that time passed, and what else such a text may say: "Same result.
#: One more time:", "Half an hour later". "The second one" may be another server, "the second time" is none.
_UNITS_TEXT = """
    second seconds minute minutes min hour hours day days week weeks month months moment while bit time sekunden
    minuten stunde stunden tag tage tagen woche wochen secondes heure heures jour jours semaine semaines segundos
    minutos hora horas día días semana semanas
"""
_UNITS = "|".join(_UNITS_TEXT.split())
_AGAIN = re.compile(
    r"\b(?:(?:once|twice|one|1) more|(?:once |yet )?again|re-?run|repeat(?:ed|ing)?|noch ?(?:ein)?mals?"
    r"|wieder(?:holt|holung)?|encore|(?:une|otra|outra|una|mais uma) (?:fois|vez|volta)|de (?:nuevo|novo)|ancora"
    r"|di nuovo|opnieuw|nog een keer|igen|en gång till|jeszcze raz|ещё раз|еще раз"
    r"|(?:a|one|the) (?:very )?(?:second|third|fourth|fifth|last|final|2nd|3rd|[4-9]th) time"
    r"|(?:ein|zum) (?:letzte[ns]|zweite[ns]|dritte[ns]) mal|(?:la|une) (?:deuxième|troisième|dernière) fois"
    r"|(?:la|una) (?:segunda|tercera|última) vez"
    r")\b|再(?:一?次|来一次)?|もう一度|다시",
    re.IGNORECASE,
)
#: What may stand beside what says that a run repeats: that nothing changed, why, and when. Alone, "unchanged", "same
#: host", "running" and "after lunch" may be treatments.
_BESIDE_AGAIN = re.compile(
    r"\b(?:(?:with )?nothing (?:was |has |else |is )?(?:changed|touched)|without (?:changing|touching) anything"
    r"|(?:everything|all) unchanged|(?:with )?(?:the )?(?:exact(?:ly)? )?same (?:settings?|commands?|set-?up"
    r"|config(?:uration)?|conditions|parameters|options|flags|thing)"
    r"|nichts (?:ge|ver)ändert|sans rien changer|sin cambiar nada"
    r"|running it|to be safe|double[- ]check|rule out|(?:not )?(?:just )?a fluke|nach (?:dem essen|der pause)"
    r"|(?:before|after) (?:an? |the )?(?:breakfast|lunch|dinner|coffee|tea|break|meeting|weekend|night)"
    r"|(?:before|after) (?:going|coming) home)\b",
    re.IGNORECASE,
)
#: The same for the time that passed; "after an hour" may say since when: of load, or since the start.
_LATER = re.compile(
    rf"\b(?:(?:{_UNITS}) (?:later|after(?:wards)?|später|danach|plus tard|después|más tarde)"
    r"|(?:the )?next day|the day after|am nächsten tag|le lendemain|al día siguiente)\b",
    re.IGNORECASE,
)
#: A time of day in words, without accents; it tells runs apart, unless it stands beside what counts them.
_TIME_OF_DAY = re.compile(
    r"\b(?:(?:this|in the|early|late|at|heute|gestern|am|ce|cette|le|la|de la|por la|en la|esta|hoje|a|de|da|di) ){0,2}"
    r"(?:morning|noon|midday|afternoon|evening|night|midnight|tonight|today|yesterday|morgens?|fruh|vormittags?|mittags?"
    r"|nachmittags?|abends?|nachts?|mitternacht|heute|gestern|matin|apres-midi|midi|soir|nuit|minuit|hier|manana|mediodia"
    r"|tarde|noche|hoy|ayer|manha|noite|mattina|stamattina|pomeriggio|sera|stasera|notte)\b"
    rf"|\b(?:at|um|a|a las|alle|om|vers|gegen|around) {_CLOCK}(?: ?(?:h|uhr|heures|o'clock)\b)?(?! ?[\w.%]|:\d)"
)
_SAYS_AGAIN_TEXT = """
    and now the this that then it its is was a an i we ran did tried trying waited measured measuring same result
    results output time times test run measurement still here ok okay fine good looks gives gave about too just to
    be sure let me make for check place half bit little few some und das gleiche ergebnis ein eine zur sicherheit et
    une le même résultat y el mismo resultado más e o mesmo fois vez volta una uma mais one two three four five ten
    fifteen twenty thirty halbe viertel zwei drei fünf zehn nearly almost demi deux trois cinq dix media dos tres
    cinco diez
"""
_SAYS_AGAIN = _words_in(_SAYS_AGAIN_TEXT + _UNITS_TEXT) | _SPELLED_ORDINALS | _BARE
_letters_of = re.compile(r"[^\W\d_]+").findall
#: Addresses; UUIDs and the number or letter of a list tell no labels apart.
_ADDRESS_OR_NUMBER = re.compile(
    r"(?<![\d.])(?P<address>\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?![\d.])|^\W*(?:\d{1,3}[.):]|\(?[A-Za-z]\))(?=\s)"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"
)
_MOST_DIGITS = 9
#: Of a longer label, the rest is not compared.
_LONGEST_LABEL = 2000


class Part(NamedTuple):
    """A word of a name that is neither a date nor a counter with its word.

    ``level`` is its folder, counted from the file (0) upwards, and ``start`` its place in the name of the folder.
    """

    level: int
    start: int
    text: str


class Name(NamedTuple):
    """What a name says: the parts that tell runs apart, and the last number, which may count repeats, with its place.

    ``last`` is None if no number may; ``place`` is then the number of parts. ``counters`` are the words that count.
    """

    parts: tuple[Part, ...]
    last: Part | None
    place: int
    counters: tuple[Part, ...]


def read_names(
    names: Collection[tuple[str, frozenset[int]]], series: frozenset[str]
) -> dict[tuple[str, frozenset[int]], Name]:
    """Return what the names of runs say that have all else in common; see `read_name` for the known numbers of each.

    They stand in the same place of all names, if there is one: the last of ``zone1_to_zone2_1``, ``zone1_to_zone2_2``.
    """
    places = [
        {at - len(words) for at, word in enumerate(words) if word.number in known}
        for path, known in names
        for words in [_words_of(path, series)]
    ]
    common = frozenset.intersection(*map(frozenset, filter(None, places))) if any(places) else frozenset[int]()
    return {name: read_name(*name, series, common) for name in names}


def read_name(
    path: str,
    known: Collection[int] = (),
    series: frozenset[str] = frozenset(),
    places: frozenset[int] = frozenset(),
) -> Name:
    """Return what the path of a log says.

    ``known`` are numbers that the manifest reads from the name, such as the round; they tell nothing more, and stand at
    these ``places`` from the end, or anywhere. ``series`` are those of `series_that_count` of all names.
    """
    words = _words_of(path, series)
    read = [word for at, word in enumerate(words) if at - len(words) in places]
    elsewhere = [word for word in words if word not in read] if read else []
    counters = tuple(Part(word.level, word.start, word.text) for word in words if word.is_counter)
    numbered = [word for word in words if word in read or (word.is_counter and word.number is not None)]
    words = [word for word in _without_numbers(words, known, elsewhere) if not word.is_counter]
    last = next((at for at in reversed(range(len(words))) if words[at].number is not None), None)
    if last is not None and (
        not words[last].is_free or _names_a_thing(words, last, series) or _is_beside_counter(words, last, numbered)
    ):
        last = None
    parts = [Part(word.level, word.start, word.text) for word in words]
    number = None if last is None else parts.pop(last)
    return Name(tuple(parts), number, len(parts) if last is None else last, counters)


def _words_of(path: str, series: frozenset[str]) -> list[_Word]:
    levels = levels_of(path)
    words = [
        word._replace(level=len(levels) - depth)
        for depth, level in enumerate(levels, start=1)
        for word in _words(level, series)
    ]
    # "samples/s01", "rounds/r2": the folder says what the letter counts.
    folder = levels[-2].casefold() if len(levels) > 1 else ""
    if folder.removesuffix("s") in _COUNTED and re.fullmatch(rf"{folder[0]}\d{{1,9}}", levels[-1].casefold()):
        words = [
            word._replace(text=folder, number=number_in(word.text), is_counter=True) if not word.level else word
            for word in words
        ]
    return words


def siblings_that_count(paths: Iterable[str], series: frozenset[str]) -> frozenset[str]:
    """Return the words of names of one shape whose separated numbers count repeats because those of another word do.

    ``bridge-1`` … ``bridge-3`` may be three bridges, but not beside ``hostnet-1`` … ``hostnet-3``, and so may
    ``same-host-1`` … ``same-host-3``, but not beside ``cross-host-1`` … ``cross-host-3``. Of many things,
    the number is how many, unless those of most words count: ``threads_1``, but ``Windows_1`` beside two systems.
    """
    shapes: dict[tuple[tuple[int, str], ...], dict[tuple[str, ...], set[int]]] = {}
    counting: set[tuple[str, ...]] = set()
    placements: set[tuple[str, ...]] = set()
    for path in paths:
        every = _words_of(path, series)
        words = [word for word in every if not word.is_counter]
        at = next((at for at in reversed(range(len(words))) if words[at].number is not None), 0)
        before = [word for word in words[:at] if word.level == words[at].level]
        behind = [word.text for word in words[at + 1 :] if word.level == words[at].level]
        if not before or not words[at].is_free or is_result(before[-1].text) or not all(map(is_result, behind)):
            continue
        slot = tuple(word.text.casefold() for word in before)
        shape = tuple((word.level, word.text.casefold()) for word in (*words[: at - len(before)], *words[at + 1 :]))
        shapes.setdefault(shape, {}).setdefault(slot, set()).add(words[at].number or 0)
        counting |= {slot} if read_name(path, series=series).last else set()
        # Beside what counts, the number is that of a thing.
        is_placement = not _RELATIONS.isdisjoint(slot[-2:-1]) and len(words) == len(every) and not is_dated(path)
        placements |= {slot} if is_placement else set()
    return frozenset(
        slot[-1]
        for slots in shapes.values()
        for numbers in [next(iter(slots.values()))]
        # 0 and 1 may switch a setting.
        if len(slots) > 1 and len(numbers) > 1 and numbers != {0, 1} and without_gap(numbers)
        if all(each == numbers for each in slots.values())
        if not counting.isdisjoint(slots) or placements >= slots.keys()
        for slot in slots
        if 2 * len(counting & slots.keys()) > len(slots) or not _is_plural(slot[-1])
    )


def _is_plural(word: str) -> bool:
    return word.endswith("s") and is_thing(word.removesuffix("s"))


def split_path(path: str) -> list[str]:
    """Return the names of the folders, archives and of the file of a path; a date in several folders is one name."""
    return _LEVELS.split(_DATE_FOLDERS.sub(lambda match: match[0].replace("/", "-"), path))


def shared_folder(files: Iterable[str]) -> str:
    """Return the folder that holds all files, with its slash; empty if none does."""
    folders = zip(*(file.split("/")[:-1] for file in files), strict=False)
    return "".join(f"{names[0]}/" for names in takewhile(lambda names: len({*names}) == 1, folders))


def is_file_name(label: str) -> bool:
    """Return whether a label is the name of a file: ``cubic_1.log``, ``results/ping.txt``."""
    ending = _ENDING.search(label)
    return bool(ending and ending[0] and _FILE_NAME.fullmatch(label))


def _without_numbers(words: Sequence[_Word], known: Collection[int], elsewhere: Collection[_Word]) -> list[_Word]:
    """Return words without numbers that the manifest reads; that of ``node4`` only if no word for itself has it.

    If a counter has the number, another word with it says something else: ``gro_1/run1``. So do words ``elsewhere``.
    """
    certain = {word.number for word in words if word.is_free or word.is_counter}
    glued = {word.number: at for at, word in enumerate(words) if word.number in known and word.number not in certain}
    kept = [word._replace(text=_letters(word.text)) if at in glued.values() else word for at, word in enumerate(words)]
    counted = {word.number for word in words if word.is_counter}
    return [word for word in kept if word in elsewhere or not (word.is_free and word.number in {*known} - counted)]


def levels_of(path: str) -> list[str]:
    """Return the names of a path, that of the file without its endings and what names it a copy."""
    *folders, file = split_path(path)
    return [*folders, _COPY.sub("", _ENDING.sub("", file))]


def series_that_count(names: Iterable[str], *, are_labels: bool = False) -> frozenset[str]:
    """Return the series of names, or of labels, that count repeats if all names are taken together.

    ``r1``, ``r2``, ``r3`` and ``run_a``, ``run_b``, ``run_c`` begin with the first and have no gap. Two numbers that
    may be a month and a day are dates if the months have no gap, and if all numbers together are not 1…n, as those of
    pairs of machines are. A word and its negation are treatments, whose numbers count: ``firewall``, ``nofirewall``.
    Of ``iperf31`` … ``iperf34``, the numbers behind ``iperf3`` have no gap.
    """
    members: dict[str, set[str]] = {}
    words: set[str] = set()
    negated: dict[str, set[str]] = {}
    glued: dict[str, set[int]] = {}
    paths = [[name] if are_labels else levels_of(name) for name in names]
    levels = {level for path in paths for level in path}
    for level in levels:
        found = {match["word"]: match[0] for match in _NEGATED.finditer(level.casefold())}
        words |= {*_LETTERS.findall(level.casefold())} - found.keys()
        for word, text in found.items():
            negated.setdefault(word, set()).add(text)
        for match in _SERIES.finditer(_unaccented(level)):
            members.setdefault(match.lastgroup or "", set()).add(match[0].casefold())
        for tool in _GLUED:
            for match in re.finditer(rf"(?<![^\W_]){tool}(\d{{1,9}})(?![^\W_])", level.casefold()):
                glued.setdefault(tool, set()).add(int(match[1]))
            # The first of ``iperf3``, ``iperf32``, ``iperf33`` has no number.
            if tool in _WITH_DIGIT and re.search(rf"(?<![^\W_]){tool}(?![^\W_])", level.casefold()):
                glued.setdefault(tool, set()).add(1)
    series = _sequences(paths) | _lettered(paths)
    tools = {tool for tool, numbers in glued.items() if len(numbers) > 1 and without_gap(numbers)}
    series |= {f"{tool}*" for tool in tools if tool[:-1] not in tools}
    treatments = frozenset(text for word in words & negated.keys() for text in (word, *negated[word]))
    return treatments.union(series, (kind for kind, texts in members.items() if _counts(kind, texts)))


def _sequences(paths: Iterable[Sequence[str]]) -> set[str]:
    """Return the words that count like those of one list in order: `_CALENDARS`, or numbers from the first on.

    No other word stands in their place: months, but not "jan" beside "eva"; "it1", but not beside "fr1".
    """
    places: dict[tuple[int, str, str], set[str]] = {}
    levels = {(above, level) for path in paths for above, level in enumerate(reversed(path))}
    for above, level in ((above, _unaccented(level.casefold())) for above, level in levels):
        for match in _ALPHANUMERIC.finditer(level[:_LONGEST_MEMBER]):
            place = (above, _DIGITS.sub("0", level[: match.start()]), _DIGITS.sub("0", level[match.end() :]))
            places.setdefault(place, set()).add(match[0])
    counting: set[str] = set()
    other: set[str] = set()
    for (_, front, behind), words in places.items():
        names_none = not any(map(is_thing, _ALPHANUMERIC.findall(front)[-1:]))
        fewest = 2 if min(map(len, words)) > 2 else _FEWEST_WORDS
        found = len(words) >= fewest and any(words <= {*names} and _is_stretch(words, names) for names in _CALENDARS)
        if not behind and len(words) >= _FEWEST_WORDS:
            series = _SPELLED_SERIES * names_none + _ORDINAL_SERIES
            found |= any(words == {*names[: len(words)]} for names in series)
            found |= all(map(_ITERATION.fullmatch, words)) and without_gap({*map(number_in, words)})
        (counting if found else other).update(words if len(words) > 1 else ())
    return {f"{word} " for word in counting - other}


def _are_first_letters(texts: Iterable[str]) -> bool:
    letters = {ord(text[-1]) - ord("a") for text in texts}
    return len(letters) >= _FEWEST_WORDS and without_gap(letters, firsts=[0])


def _lettered(paths: Iterable[Sequence[str]]) -> set[str]:
    """Return the words whose letters count like numbers: those for what a run leaves, and conditions with siblings.

    The letters of one other word may be three things, and those beside or below a place are zones.
    """
    letters: dict[str, set[str]] = {}
    beside: set[str] = set()
    for path in paths:
        if lettered := _LETTERED.search(path[-1].casefold()):
            letters.setdefault(lettered["word"], set()).add(lettered["letter"])
            above = _ALPHANUMERIC.findall(" ".join(path[-2:-1]).casefold())
            beside.update(above, _ALPHANUMERIC.findall(path[-1].casefold())[:-1])
    counting = {word for word in letters if _are_first_letters(letters[word])}
    siblings = letters.keys() - _OUTPUTS
    is_grid = siblings <= counting and len(siblings) > 1 and len({frozenset(letters[word]) for word in siblings}) == 1
    is_grid &= not siblings.isdisjoint(_CONDITIONS) and not any(map(_may_be_place, beside))
    return {f"{word} a" for word in counting if is_grid or word in _OUTPUTS}


def _may_be_place(word: str) -> bool:
    is_place = len(word) < _FEWEST_WORDS or not word.isalpha() or word in _ENDS or is_thing(word)
    return is_place and not is_result(word) and word not in _CONDITIONS


def _is_stretch(words: Collection[str], names: Sequence[str]) -> bool:
    """Return whether words follow each other among names, behind the last of which comes the first."""
    return any({*islice(cycle(names), at, at + len(words))} == {*words} for at in range(len(names)))


def _counts(kind: str, texts: Collection[str]) -> bool:
    if kind in ("r", "word"):  # lost runs leave gaps; "r5", "r6" are types of machines, "r1", "r2", "r4", "r8" a sweep
        numbers = {number_in(text) for text in texts}
        return without_gap(numbers) or (
            min(numbers) <= 1 and len(numbers) >= _FEWEST_OF_R and 2 * max(numbers) <= 3 * len(numbers)
        )
    if kind == "letter":
        return _are_first_letters(texts)
    if kind == "hour":  # nothing lasts no hours
        return "00h" in texts
    if kind == "date":  # of versions, the last number changes most
        days, months, years = map(set, zip(*(map(int, text.split(".")) for text in texts), strict=True))
        return max(days) <= 31 and max(months) <= 12 and len(days) > len(years) == 1
    pairs = [tuple(map(int, text.split("-"))) for text in texts]
    if without_gap({number for pair in pairs for number in pair}):
        return False
    first, second = ({pair[place] for pair in pairs} for place in (0, 1))
    return any(
        max(months) <= 12 and max(days) <= 31 and without_gap({month - min(months) for month in months})
        for months, days in ((first, second), (second, first))
    )


def without_gap(numbers: Collection[int], firsts: Collection[int] = (0, 1)) -> bool:
    """Return whether different numbers are all those from one of the first numbers up to the last."""
    return any({*numbers} == {*range(first, first + len(numbers))} for first in firsts)


def number_in(text: str) -> int:
    """Return the number of a word, such as ``3``, ``r3`` or ``three``, or the place of a letter."""
    return _SPELLED_NUMBERS.get(text.casefold()) or int(re.sub(r"\D", "", text) or ord(text.casefold()) - ord("a") + 1)


def says_again(text: str) -> bool:
    """Return whether a label says nothing but that its run repeats the one above it, or that time passed since then."""
    rest, count = _LATER.subn(" ", _AGAIN.sub("\0", _BESIDE_AGAIN.sub(" ", text.casefold())))
    return (count > 0 or "\0" in rest) and _SAYS_AGAIN.issuperset(_letters_of(rest))


def split_time_of_day(label: str, series: frozenset[str]) -> tuple[str, str] | None:
    """Return the counter and the time of day of a label that says nothing more: "First run, this morning"."""
    text = _unaccented(label[:_LONGEST_LABEL].casefold())
    rest, when = _TIME_OF_DAY.sub(" ", text), " ".join(_TIME_OF_DAY.findall(text))
    is_numbered = any(word.is_counter and word.number is not None for word in _words(rest, series))
    is_numbered |= bool(_NUMBERED_LABEL.search(rest)) or not _SPELLED_ORDINALS.isdisjoint(_letters_of(rest))
    return (rest, when) if when and is_numbered and not label_text(rest, series) else None


def may_count(label: str) -> bool:
    """Return whether a label is assumed to count repeats, though it may say more: "Test 3", "an hour later"."""
    is_later = _LATER.search(label) is not None and says_again(label)
    return is_later or bool(_NUMBERED_LABEL.search(label) or split_time_of_day(label, frozenset({"word"})))


def label_text(label: str, series: frozenset[str] = frozenset(), ends: Collection[str] = ()) -> str:
    """Return a label without counters, dates and the addresses of the ends of its run, for comparing it with others.

    ``series`` are those of `series_that_count` of all labels.
    """
    text = _without_times("" if _ORDINAL_ALONE.fullmatch(label) else label[:_LONGEST_LABEL], " ")
    text = _ADDRESS_OR_NUMBER.sub(lambda found: found[0] if (found["address"] or "") not in {"", *ends} else " ", text)
    text = re.sub(r"[\[(]?(?<![\w.])\d{1,9}/\d{1,9}[\])]?", " ", text)
    if says_again(text):
        return ""
    words = _words(_NUMBERED_LABEL.sub(" ", text), series)
    said = [word.text for word in words if not word.is_counter]
    rest = _BESIDE_AGAIN.sub(" ", " ".join(said).casefold())
    is_count = len(said) < len(words) and _SAYS_AGAIN.issuperset(rest.split())  # "and a second run"
    return "" if is_count else " ".join(said)


def _without_times(text: str, filling: str) -> str:
    """Return a text of the same length with a character instead of those of dates and times."""
    for found in _TIME.finditer(_unaccented(text)):
        text = text[: found.start()] + filling * len(found[0]) + text[found.end() :]
    return text


class _Word(NamedTuple):
    """A word of a level: its text, its number if it is one (or glued to the name of a tool), its place."""

    level: int
    start: int
    text: str
    number: int | None
    is_free: bool
    """Whether the number is separated, or glued to a word for a result."""
    is_counter: bool = False


@lru_cache(maxsize=8192)  # the logs of many nights lie in folders of few names
def _words(level: str, series: frozenset[str]) -> tuple[_Word, ...]:
    """Return the words of a level without dates and times; a counter with its number is one word."""
    # As many characters keep the places of what follows.
    text = _without_times(level, "\0")
    folded_text = _unaccented(text)
    tokens = [
        (match.start() + camel.start(part), camel[part]) if camel else (match.start(), match[0])
        for match in _TOKEN.finditer(text)
        for camel in [_CAMEL.fullmatch(match[0])]
        for part in (("rest", "counter") if camel else ("",))
    ]
    folded = [unicodedata.normalize("NFKC", token).casefold() for _, token in tokens] + [""] * 3
    words: list[_Word] = []
    at = 0
    while at < len(tokens):
        start, token = tokens[at]
        further, before = ["", "", *(word.text.casefold() for word in words[-2:])][-2:]
        thing = before if is_thing(before) and further not in _RELATIONS else ""
        member = _SERIES.match(folded_text, start)
        if member and member.lastgroup in series and (not member["pair"] or not before or before in _RESULTS):
            counter = member["r"] or member["word"]
            words += [_Word(0, start, counter, _number_of(member[0]), False, True)] * bool(counter)
            at += sum(start <= place < member.end() for place, _ in tokens)
        elif f"{_unaccented(folded[at])} " in series:
            if folded[at] in _SPELLED_NUMBERS or _ITERATION.fullmatch(token):
                words.append(_Word(0, start, token, number_in(token), True))
            at += 1
        elif token.isdecimal() and (sign := _NUMERO.search(text[:start])) and len(thing) <= 2:
            del words[len(words) - len(sign["n"] or "") :]
            at += 1
        elif length := _counter_length(*folded[at : at + 4], is_of_thing=bool(thing)):
            word = next((text for text in map(_letters, folded[at : at + length]) if text in _COUNTED), "")
            number = _number_of("".join(folded[at : at + min(length, 2)]))
            words += [_Word(0, start, word, number, False, True)] * bool(word)
            at += length
        else:
            # "NODELAY=1", "bench[1]"; "E2.1" is a type of machine, but "iperf3.1" a counter.
            is_assigned = _ASSIGNED.search(text[:start]) or (
                _SHAPE.search(text[max(start - 5, 0) : start]) and before not in _RESULTS
            )
            found = _split(start, token, series)
            lettered = _LETTERED.search(text[: start + len(token)]) if at + 1 == len(tokens) else None
            if lettered and f"{lettered['word'].casefold()} a" in series:
                found = [_Word(0, start, token, number_in(token), True)]
            words += [word._replace(is_free=False) if is_assigned else word for word in found]
            at += 1
    return tuple(words)


def _number_of(counter: str) -> int | None:
    return number_in(counter) if any(map(str.isdecimal, counter)) else None


def _counter_length(token: str, following: str, third: str, fourth: str, *, is_of_thing: bool) -> int:
    """Return how many tokens, from this one on, are a counter with its word: ``run3``, ``3rd run``, ``run 1 of 6``."""
    numbered, ordinal, of_n = _NUMBERED.fullmatch(token), _ORDINAL.fullmatch(token), _K_OF_N.fullmatch(token)
    numbered = numbered or _CHINESE.fullmatch(token)
    if numbered and numbered["word"] in _REPEATS:
        return 1
    if of_n:
        return int(of_n["word"] in _COUNTED | {"r"} if of_n["word"] else not is_of_thing)
    if token.isdecimal() and following == "of" and third.isdecimal() and not is_of_thing:
        return 3
    counted = (ordinal["word"] or ordinal["counted"] or "") if ordinal else ""
    # In Chinese, a measure word may stand in front of what is counted: 第一次测试.
    is_counted = counted in _REPEATS or {counted[:1], counted[1:]} <= _REPEATS
    if ordinal and is_counted and not _is_duration(ordinal, ordinal["word"]):
        return 1
    if token in _REPEATS and following.isdecimal() and third == "of" and fourth.isdecimal():
        return 4
    if token in _REPEATS and (_K_OF_N.fullmatch(following) or following.isdecimal() or following in _SPELLED):
        return 2
    is_marked = ordinal is not None and not token.isdecimal()
    if (
        ordinal
        and following in (_COUNTED if is_marked else _REPEATS)
        and not third.isdecimal()
        and not _is_duration(ordinal, following)
    ):
        return 2
    if token in _SPELLED_ORDINALS and following in _COUNTED:
        return 2
    return int(token in _BARE)


def _is_duration(number: re.Match[str], word: str) -> bool:
    """Return whether a number in front of a time is no ordinal: ``24 hour``, but not ``1st day``."""
    return word in _TIMES and number[0].removesuffix(word).isdecimal()


def _split(start: int, token: str, series: frozenset[str]) -> list[_Word]:
    """Return a token as one word, or as two: the name of a tool or a word for a result, and the number glued to it."""
    if token.isdecimal() and len(token) <= _MOST_DIGITS:
        return [_Word(0, start, token, int(token), True)]
    glued = next((tool for tool in _GLUED if f"{tool}*" in series and token.casefold().startswith(tool)), "")
    numbered = _NUMBERED.fullmatch(token)
    if glued and token[len(glued) :].isdecimal():
        word, number = token[: len(glued)], token[len(glued) :]
    elif not numbered or token.casefold() in _RESULTS:
        return [_Word(0, start, token, None, False)]
    else:
        word, number = numbered["word"], numbered["number"]
    if word.casefold() not in _RESULTS:
        return [_Word(0, start, token, int(number), False)]
    return [_Word(0, start, word, None, False), _Word(0, start + len(word), number, int(number), True)]


def _names_a_thing(words: list[_Word], at: int, treatments: frozenset[str]) -> bool:
    """Return whether the word before or behind a number is a thing or a setting, and none of the treatments.

    A word in the folder above counts if it is the only one there: ``size/64.log``.
    """
    level = words[at].level
    ends = [word.text.casefold() for word in words[:at] if word.level == level and word.text.casefold() != "to"][-2:]
    if len(ends) == 2 and {*ends} <= _ENDS:
        return False
    before, behind = (
        [word.text for word in beside if word.level == level]
        for beside in (words[max(at - 1, 0) : at], words[at + 1 :])
    )
    above = [word.text for word in words[:at] if word.level == level + 1]
    if before and before[0].casefold() in treatments:
        return False
    if any(map(is_thing, before + behind[:1])) or (not before and len(above) == 1 and is_thing(above[0])):
        return True
    # In "web-0-ping" the number is that of a pod, but not in "ping_1_tcp".
    return bool(before and behind) and not is_result(before[0])


def _is_beside_counter(words: Sequence[_Word], at: int, counters: Iterable[_Word]) -> bool:
    """Return whether counters with a word stand beside a number, or below it: ``run1_gro_0``, ``gro_0/run1``."""
    level = words[at].level
    is_setting = not all(is_result(word.text) for word in words[:at] if word.level == level)
    return is_setting and any(counter.level <= level for counter in counters)


def is_dated(name: str) -> bool:
    """Return whether a name contains a date or a time."""
    return _TIME.search(_unaccented(name)) is not None


def is_tool(word: str) -> bool:
    """Return whether a word is the name of a tool."""
    return word.casefold() in _TOOLS


def is_result(word: str) -> bool:
    """Return whether a word is the name of a tool or a word for a result, which sets nothing."""
    return word.casefold() in _RESULTS


def says_no_amount(word: str) -> bool:
    """Return whether a word behind a number is a result, an end or a protocol, of which the number counts none."""
    word = word.casefold()
    return word in _RESULTS or word in _ENDS or word in _PROTOCOLS


@lru_cache(maxsize=8192)
def is_thing(word: str) -> bool:
    """Return whether a word is a thing or a setting, which a number beside it names or sets."""
    word = word.casefold()
    forms = [word, word.removesuffix("s"), word.removesuffix("es")]
    counted = [count["thing"] for form in forms if (count := _COUNT_OF.fullmatch(form))]
    is_compound = any(map(_COMPOUND.fullmatch, forms))
    return not _THINGS.isdisjoint([*forms, *counted]) or is_compound or bool(_REGION.fullmatch(word))
