"""Word lists of the near-duplicate guard: English, Spanish, Filipino, and negations of languages to come.

They only tell texts apart; they decide nothing about what may be saved. Forms are folded: lower case, without
accents and apostrophes.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATIONS = dict.fromkeys(
    _words(
        """
        no never nunca jamas hindi di
        dont doesnt didnt isnt arent wasnt werent aint havent hasnt hadnt
        """
    ),
    "not",
) | {"cannot": "cant", "walang": "wala", "wag": "huwag", "ayoko": "ayaw", "jamais": "pas", "keine": "kein"}
"""Plain negations, which are one and the same, and spellings of others."""

TURNING = frozenset(NEGATIONS.values()) | _words(
    """
    not none nobody nothing nowhere neither nor without wont shouldnt wouldnt couldnt mustnt neednt except
    unless rarely hardly barely seldom almost stopped stops stop quit quits quitting avoid avoids avoided
    refuse refuses refused former formerly ex anymore lacks lacking dislike dislikes disliked unlike instead
    only non longer against anti fake
    sin tampoco ni nadie nada ningun ninguno ninguna ningunos ningunas dejo deja excepto salvo menos apenas
    casi evita evito solo solamente
    hinding bawal maliban kundi kaunti bihira halos dati dating tumigil iniiwasan lang lamang dili
    nicht keinen keiner keinem nie niemals ohne nichts kaum ne sans rien aucun aucune nao nem sem nenhum
    nenhuma senza mai nessuno
    """
)
"""Words that turn a statement round or narrow it. Each is only ever equal to itself."""

NUMBERS = {
    word: value
    for value, words in {
        "0": "zero cero sero",
        "1": "one uno isa once",
        "2": "two dos dalawa dalawang twice both ambos second segundo segunda pangalawa",
        "3": "three tres tatlo tatlong third tercero tercera pangatlo",
        "4": "four cuatro apat kuwatro kwatro fourth cuarto cuarta",
        "5": "five cinco lima limang singko fifth quinto quinta",
        "6": "six seis anim sais sixth sexto sexta",
        "7": "seven siete pito pitong syete seventh",
        "8": "eight ocho walo walong otso eighth",
        "9": "nine nueve siyam nuwebe ninth",
        "10": "ten diez sampu sampung diyes tenth",
        "11": "eleven",
        "12": "twelve doce dozen docena dose",
        "13": "thirteen trece trese",
        "14": "fourteen catorce katorse",
        "15": "fifteen quince kinse",
        "16": "sixteen dieciseis disisais",
        "17": "seventeen diecisiete disisiyete",
        "18": "eighteen dieciocho disiotso",
        "19": "nineteen diecinueve disinuwebe",
        "20": "twenty veinte bente dalawampu",
        "30": "thirty treinta tatlumpu",
        "40": "forty cuarenta apatnapu",
        "50": "fifty cincuenta limampu",
        "60": "sixty sesenta",
        "70": "seventy setenta",
        "80": "eighty ochenta",
        "90": "ninety noventa",
        "100": "hundred cien ciento daan sandaan",
        "1000": "thousand mil libo sanlibo",
        "1/2": "half medio media kalahati",
        "1st": "first primero primera primer",
        "last": "last ultimo ultima huli",
    }.items()
    for word in words.split()
}
"""Number words by their value. Spanish ``once`` (eleven) is read as English: it only has to equal itself."""

PLAIN = _words(
    """
    a an the is are was were be been being am do does did has have had of to in on at for with by and or
    that
    this these those it its he she they them his her their our your my i you we who which as from about
    there
    very really also user member currently always
    el la los las un una unos unas es son era fue esta estan ser estar ha han de del al en con por para
    y o que
    se su sus mi mis tu tus lo le les como muy mucho mucha tambien siempre usuario
    ang ng mga sa si kay nina sina ay na ito iyon siya sila niya nila kanya kaniya ko mo ka ako po
    isang may mayroon talaga rin din lagi palagi yung iyong
    """
)
"""Words that carry no fact of their own."""

JOINING = _words("and or but than y o pero que at kaysa with con")
"""Words beside which the order of the others matters."""
