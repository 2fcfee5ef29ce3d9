"""Word lists of the near-duplicate guard: English, Spanish, Filipino.

They only tell texts apart; they decide nothing about what may be saved. Forms are folded: lower case, without
apostrophes, without the acute accent unless it stands on the last letter (``trabajó`` is not ``trabajo``).
A word that stands in no list is only ever equal to itself, so a list that misses a word costs a question that
might have been asked, never a memory. For the same reason words of which one sense differs are not listed.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(text: str) -> dict[str, str]:
    """One meaning a line: the word for it, a colon, the words that mean it."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        meaning, _, words = line.partition(":")
        found.update(dict.fromkeys(words.split(), meaning.strip()))
    return found


NOT = "not"
NEGATIONS = dict.fromkeys(
    _words(
        """
        no not never nunca jamas jamás hindi di
        dont doesnt isnt arent aint havent hasnt
        """
    ),
    NOT,
) | {"cannot": "cant", "walang": "wala", "wag": "huwag", "ayoko": "ayaw"}
"""Plain negations, which are one and the same, and spellings of others."""

TURNING = frozenset(NEGATIONS.values()) | _words(
    """
    none nobody nothing nowhere neither nor without wont shouldnt wouldnt couldnt mustnt neednt didnt wasnt
    werent hadnt except unless rarely hardly barely seldom almost stopped avoid avoids =dislike only
    non longer
    sin tampoco ni nadie nada ningun ninguno ninguna excepto salvo menos apenas casi solo solamente
    hinding bawal maliban kundi bihira halos lang lamang
    """
)
"""Words that turn a statement round or narrow it: nothing beside them is left out or moved."""

SOFT = _words(
    """
    very really always also currently now still just actually definitely
    muy mucho mucha siempre tambien también actualmente ahora talaga rin din lagi laging palagi palaging
    ngayon po na
    """
)
"""Words that only colour a plain statement, and change one that is turned round (not always, not really)."""

PLAIN = _words(
    """
    a an the be been being do does of to in on at and that this these those it its who which
    there any user member
    he his =el she her they their i my we our you your
    el la los las un una unos unas ser estar ha han del de al en y e que
    se su sus mi mis tu tus lo le les usuario usuaria
    ang ng nang mga sa kay nina sina ay ito iyon siya siyang sya syang niya niyang nya nyang kanyang
    kaniyang sila silang nila nilang kanilang ko mo ka ako isang yung iyong noong
    """
)
"""Words that carry no fact of their own where they stand."""

PERSONS = _table(
    """
    m: he him his himself él
    f: she her hers herself ella
    p: they them their theirs themselves ellos ellas sila silang nila nilang kanila kanilang
    s: siya siyang sya syang niya niyang nya nyang kanya kanyang kaniya kaniyang
    1: i me my mine myself yo mi mis ako akong ko kong akin aking
    we: we us our ours nosotros nosotras nuestro nuestra kami tayo namin natin
    2: you your yours tu tus te ti usted ikaw ka mo mong iyo iyong
    """
)
"""Of whom a pronoun speaks. Spanish ``su``, ``le`` and ``se`` leave it open."""

ACTING = _words("siya siyang sya syang sila silang ako akong ka")
"""Filipino pronouns of whom a sentence is about, unlike niya and nila."""

OWNING = _words("his her their my your our su sus mi mis tu tus niya niyang nya kanyang nila nilang ko mo")
COUNTING = OWNING | _words("a an the this that el la los las un una unos unas =have isang ang")
"""Words after which singular and plural are different facts."""

POSSESSORS = _words("of by de del ni nina =from from")
RECEIVERS = _words("a al kay")
COPULAS = _words("be ay ang =name")
AND = _words("and y e")
ARTICLES = _words("a an the el la los las un una ang ng si")
LIST_ENDS = {("ang",), ("on",), ("in",), ("sa",), ("en",), ("noong",)}
"""How the sentence goes on after a list that nothing else can belong to."""
MARKERS = _words("ng nang")
PLACED = _words("sa")
BEFORE_NUMBERS = _words("at in to las a")
RANGES = _words("to a")
SMALL = _words("am pm")
"""Written with capitals or without."""
SINCE = _words("=from since until hasta hanggang mula")
DEFINITE = _words("the el la los las")
INDEFINITE = _words("a an un una isang")
OF_DATE = _words("de of ng del")
AFTER_IS = _words("a an the not")
"""Words before which 's is ``is``."""
JOINING = _words("and or but than y e o pero que kaysa because porque dahil kasi while when if cuando")
"""Words beside which the order of the others matters."""

SPANISH = _words("el los las del su sus en es que y con una se le muy")
ENGLISH = _words("is are has have the to of with her his was")
FILIPINO = _words("ang ng nang mga sa siya siyang sya niya niyang nya ay sila nila po")
BEFORE_NAMES = _words("si ni kay sina nina")
"""Function words that tell the language, for words that two of them share."""

MONTHS = _table(
    """
    =m1: january jan enero
    =m2: february feb febrero pebrero
    =m3: march marzo marso
    =m4: april abril
    =m5: mayo
    =m6: june junio hunyo
    =m7: july julio hulyo
    =m8: august agosto
    =m9: september sept septiembre setiembre setyembre
    =m10: october octubre oktubre
    =m11: november noviembre nobyembre
    =m12: december diciembre disyembre
    """
)
TIMES = _table(
    """
    =d1: monday lunes
    =d2: tuesday martes
    =d3: wednesday miercoles miyerkules
    =d4: thursday jueves huwebes
    =d5: friday viernes biyernes
    =d6: saturday sabado
    =d7: sunday domingo
    =d1s: mondays
    =d2s: tuesdays
    =d3s: wednesdays
    =d4s: thursdays
    =d5s: fridays
    =d6s: saturdays sabados
    =d7s: sundays domingos
    =weekend: weekend weekends
    =daily: daily everyday diario
    """
)

MEANINGS = _table(
    """
    be: is are be es son esta está estan están
    =have: has have owns tiene tienen mayroon mayroong meron merong
    =like: likes like enjoys enjoy gusta gustan mahilig mahilig hilig
    =love: loves love adores adore encanta encantan adora adoran
    =hate: hates hate detests detest loathes loathe odia odian detesta detestan
    =dislike: dislikes dislike
    =prefer: prefers prefer prefiere prefieren
    =want: wants want quiere desea wishes
    =afraid: afraid scared terrified fearful takot natatakot
    =allergy: allergic alergic allergy allergies alergia alérgia alergico alergica alergias
    =birthday: birthday bday birthdate cumpleaños kaarawan kaarawang
    =live: lives resides vive reside nakatira nakatirang naninirahan
    =moved: moved relocated lumipat
    =eat: eats eat
    =drink: drinks drink bebe beber toma tomar
    =favorite: favorite favourite fave favorito preferido paborito paboritong paboritang
    =favorita: favorita preferida
    =color: color colour colors colours colores kulay
    =film: film films movie movies pelicula peliculas pelikula
    =child: child kid
    =children: children kids
    =mother: mother mom mum mommy madre mamá nanay inay
    =father: father dad daddy padre papá tatay itay
    =husband: husband esposo marido
    =wife: wife esposa
    =coffee: coffee cafe café kape kapeng
    =tea: tea té tsaa tsaang
    =car: car coche carro auto kotse
    =job: job trabaho
    =must: must debe kailangan kailangang
    =should: should dapat deberia
    =can: can puede pwede pwedeng puwede puwedeng
    =may: might baka
    =will: will gonna
    =speak: speaks speak habla hablan
    =grew: crecio creció lumaki
    =born: born nacio nació ipinanganak isinilang
    =for: for para
    =with: with con kasama
    =about: about sobre tungkol
    =from: from desde galing taga
    =colorblind: colorblind colourblind daltonico daltonica
    =center: center centre
    =begins: begins starts empieza comienza
    =reply: reply answer respuesta
    =replies: replies answers respuestas
    =neighbor: neighbor neighbour vecino kapitbahay
    =gray: gray grey
    =pajamas: pajamas pyjamas
    =begin: begin start
    =began: began started empezo empezó comenzo comenzó nagsimula nagsimulang
    =times: times time veces beses
    =twice: twice
    =el: él
        =yes: sí
    """
)
"""Words of one meaning. Same tense, same strength: likes is not loves, lived is not lives."""

NUMBERS = _table(
    """
    0: zero cero sero
    1: one uno isa
    2: two dos dalawa dalawang
    3: three tres tatlo tatlong
    4: four cuatro apat kuwatro kwatro
    5: five cinco lima limang singko
    6: six seis anim sais
    7: seven siete pito pitong syete
    8: eight ocho walo walong otso
    9: nine nueve siyam nuwebe
    10: ten diez sampu sampung diyes
    11: eleven
    12: twelve doce dose
    13: thirteen trece trese
    14: fourteen catorce katorse
    15: fifteen quince kinse
    16: sixteen dieciseis disisais
    17: seventeen diecisiete disisiyete
    18: eighteen dieciocho disiotso
    19: nineteen diecinueve disinuwebe
    20: twenty veinte bente dalawampu dalawampung
    30: thirty treinta tatlumpu tatlumpung
    40: forty cuarenta apatnapu
    50: fifty cincuenta limampu limampung
    60: sixty sesenta
    70: seventy setenta
    80: eighty ochenta
    90: ninety noventa
    100: hundred cien ciento
    1000: thousand mil
    1st: first primero primera primer
    2nd: second segundo segunda pangalawa ikalawa
    3rd: third tercero tercera tercer pangatlo ikatlo
    4th: fourth cuarto cuarta
    5th: fifth quinto quinta
    6th: sixth sexto sexta
    7th: seventh
    8th: eighth
    9th: ninth
    10th: tenth
    """
)
"""Number words by their value. ``once`` is eleven in Spanish: it is only ever equal to itself."""

DROPPED = PLAIN | COPULAS
SHOUTED = SMALL | MEANINGS.keys() | TURNING | SOFT | NUMBERS.keys() | NEGATIONS.keys()
"""Words that mean the same in capitals, unlike US and us."""

EVERY = ("every", "each", "los", "cada", "todos los", "tuwing", "kada")
"""Before a day of the week: Fridays, which are not one Friday."""

MEANINGS |= NUMBERS | NEGATIONS | MONTHS | TIMES

DATES = frozenset(MONTHS.values()) | frozenset(TIMES.values())
WEEK = frozenset(form for form in TIMES.values() if form[2:3].isdigit())
MONTH_FORMS = frozenset(MONTHS.values())
MOVABLE = DATES | {"=night", "=morning"}
"""Tells when; may stand at the start of a short sentence or at its end."""

KIN = frozenset({"=mother", "=father"})
"""Written with a capital or without."""

HEADS = {"=allergy": "=allergic", "=intolerant": "=cannot", "=fan": "=fan_of", "=timezone": "=timezone"}
"""Words that may stand after what belongs to them (peanut allergy); the same before it."""

HAD = frozenset(HEADS) | frozenset(HEADS.values()) | {"=name", "=birthday"}
"""Beside these, to have says nothing more."""

TO_DO = frozenset({"=like", "=love", "=hate", "=prefer", "=dislike", "=began"})
"""Verbs after which to do and doing are one."""

_PHRASES = """
=allergic: =allergy to | =allergy a | an =allergy to | una =allergy a
=afraid: =afraid of | le dan miedo | le da miedo | =have miedo a | =have miedo de | fear of
=intolerant: intolerant | intolerance | intolerante | intolerancia
=cannot: intolerant to | intolerance to | intolerante a | intolerancia a
=fan: fan
=fan_of: fan of | fan de
=timezone: timezone | time zone
=name: named | called | be named | be called | name be | llamado | llamada | se llama | que se llama
=name: nombre be | pangalan ng | pangalan ay | nagngangalang
=goby: goes by | go by | nickname be | preferred name be | =prefer to be called | =want to be called
=goby: =like to be called | =prefer being called | =like being called
=goby: =prefer que la llamen | =prefer que lo llamen | =prefer que le llamen | =prefer que le digan
=goby: =want que la llamen | =want que lo llamen | =want que le llamen | =want que le digan
=goby: tawagin siyang | gusto niyang tawagin siyang | gusto niyang tawaging
=born: =born | was =born | was =born on
=birthday: cumple años
=grew: grew up | was raised | se crio | se crió
=moved: se mudo | se mudó | se traslado | se trasladó
=will: will | be going to | va a
=must: must | =have to | =have que | needs to | need to
=can: be able to
=love: be crazy about | le =love
=like: be fond of | le =like | =like ang
=dislike: =dislike | not =like | not le =like | not do =like
be: works as | be working as | =have a =job as | trabaja de | trabaja como | trabajando de | trabajando como
be: be una persona | nagtatrabaho siya bilang | nagtatrabaho bilang | 1 siyang
be: nagwo work siya as | nagwo work siya bilang
works: works for | works at | works in | be working for | be working at | be working in
trabaja: trabaja =for | trabaja en
=rise: wakes up | gets up | wake up | get up | se levanta | se despierta
=from: be =from | =from sa | =from siya sa | comes =from
=daily: every day | each day | todos los dias | cada dia | a diario | araw araw | kada araw
=night: at night | por la noche | por las noches | de noche | sa gabi | tuwing gabi | gabi gabi
=morning: in the morning | in the mornings | por la mañana | por las mañanas | sa umaga | tuwing umaga
=weekend: on =weekend | los fines de semana | el fin de semana
=twice: twice | 2 =times
=quit: quit | stopped | dejó de | dejo de
=without: without | sin | =with not | walang
not =have: =have not
not =want: =want not
not =eat: =eat not
not =drink: =drink not
cant: be unable to
=want: would =like | le gustaria
trabaja =night: trabaja de noche | trabaja =for la noche
=colorblind: =color blind
gusto: gusto niya ng | gusto niya ang
ayaw: not niya gusto ng | not niya gusto ang | ayaw niya ng | ayaw niya sa | ayaw niya ang
kaysa: kaysa sa
in: en el año | in the year | noong taong
"""


def _phrases(text: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        meaning, _, phrases = line.partition(":")
        found |= {tuple(phrase.split()): tuple(meaning.split()) for phrase in phrases.split("|")}
    for day in (meaning for meaning in TIMES.values() if meaning[:2] == "=d" and meaning[-1].isdigit()):
        found |= {(*every.split(), day): (f"{day}s",) for every in EVERY}
    return found


PHRASES = _phrases(_PHRASES)
LONGEST: dict[tuple[str, ...], int] = {}
"""The words of the longest phrase that begins with two words."""
for _phrase in PHRASES:
    LONGEST[_phrase[:2]] = max(len(_phrase), LONGEST.get(_phrase[:2], 1))
