"""The phrase lists in English, Spanish and Filipino: data of :mod:`memory.phrases`, and nothing else.

They are written for a text whose blanks are single. Whatever may repeat has a bound or gives nothing back
(``+`` after a quantifier), so that one attempt at one place takes a bounded time.
"""

from __future__ import annotations

from enum import StrEnum


class Language(StrEnum):
    """The languages of the phrase lists; values are Discord's and gettext's codes."""

    EN = "en"
    ES = "es"
    FIL = "fil"


def _any(*phrases: str) -> str:
    return "(?:" + "|".join(phrases) + ")"


_NAME = (
    _any(
        r"<@[!&]?\d{1,20}+>[,:]? ?",
        r"@[^\s,:]{1,40}+(?: [^\s,:]{1,40}+)?[,:] ?",
        r"@[^\s,:]{1,40}+(?: (?-i:[A-Z][\w-]{1,40}+)){0,2} ",
        r"[^\W\d_][\w'-]{0,40}+(?: [\w'-]{1,40}+)?[,:] ",
    )
    + "?"
)
"""An address: ``<@1>``, ``@Name``, ``@Two Words``, ``Name,`` or ``Two Words:``."""


OPENING = {
    Language.EN: "hey|hi|hello|ok|okay|so|and|also|oh|but|btw|by the way|yes|yeah|well|now|just|then"
    "|keepsake|bot",
    Language.ES: "oye|hola|ok|bueno|y|pero|ah|eh|che|sí|si|entonces|además|también|keepsake|bot",
    Language.FIL: "uy|oy|hoy|hi|hello|hey|ok|okay|o|at|pero|tapos|ay|sige|keepsake|bot",
}
"""What a request may begin with, several times over, before a name."""

_PLEASE = {
    Language.EN: "please|pls|plz|kindly|just|also|always",
    Language.ES: "por favor|porfa|porfavor|porfis|que|siempre",
    Language.FIL: "please|pls|paki|pakiusap|nga|lang",
}

_POLITE = {
    Language.EN: _any(
        "(?:can|could|would|will) (?:you|u) (?:(?:please|pls) )?",
        "i(?:'d| would)? (?:want|need|like) you to ",
        "(?:you|u) (?:should|must|have to|need to|gotta) ",
        "(?:make|be) sure (?:that )?(?:you|to) ",
    ),
    Language.ES: _any(
        "(?:(?:me|te) )?(?:puedes|podrías|podés|puede|podría|pudieras)(?:,? (?:por favor|porfa)\\b,?)? ",
        "(?:quiero|necesito|me gustaría) que ",
        "(?:tienes|tenés|debes) (?:que )?",
    ),
    Language.FIL: r"(?:pwede|puwede|pwedeng|puwedeng|maaari|maaaring|kaya)(?: ?(?:mo|mong|bang|ba)){0,4}"
    r"(?: (?:please|pls|po)\b)? ",
}

LEAD = {
    tongue: rf"[¡¿]{{0,9}}+{_NAME}[¡¿]{{0,9}}+(?:(?:{_PLEASE[tongue]})\b,? ){{0,4}}"
    rf"(?P<polite>{_POLITE[tongue]})?"
    for tongue in Language
}
"""What stands between the opening and the request: a name, a please, a "can you"."""

_MEMBER = _any(r"<@!?\d{1,20}+>", r"@[\w-]{1,40}+")
"""Another member, mentioned: raw or by name."""

_EN_ALL = _any(
    " for (?:us|all(?: of us)?|everyone|everybody)(?: here)?"
    "(?: (?:on|in) (?:the|this|our|my) (?:server|guild))?",
    " (?:for|on|in) (?:(?:the|this|our|my) )?(?:(?:whole|entire) )?(?:server|guild|group|clan)",
)
_EN_FOR = f"(?: for me|{_EN_ALL})?"
_EN_THAT = _any(" that\\b", r" (?:this|it)? ?[:,—-]", " this\\b", " the fact that\\b", r" ?:")
_EN_NOT = "(?:don'?t|do not|never) (?:ever |you )?forget"
_EN_ME = r"(?=(?:i|i'm|im|i've|i'll|we|we're|my|our|me as)\b)"
_EN_TO = r" to (?=(?:always|never|call|use|answer|reply|speak|write|talk|respond|be)\b)"
_EN_BARE = (
    "(?="
    + _any(
        "(?:the|this|these|those|his|her|their|he|she|they|everyone|everybody|it's|it)\\b",
        '"',
        r"[\w-]{1,40}+'s\b",
        r"[\w'-]{1,40}+ (?:is|are|has|likes|loves|hates)\b",
        rf"{_MEMBER}'s\b",
        rf"{_MEMBER} (?:[\w'-]{{1,40}}+ ){{0,2}}?"
        r"(?:[a-z]{1,20}s|can|cannot|will|had|[a-z]{1,9}n't|can't)\b",
    )
    + ")"
)
_EN_NOTE = _any(
    "(?:make|take|keep) (?:a )?(?:mental )?(?:note|record)(?: of)?",
    "(?:jot|note|write) (?:(?:this|it) )?down",
    "(?:keep|bear) (?:(?:this|it) )?in mind",
    "memori[sz]e",
    "note",
    "save",
    "store",
    "(?:save|commit|add|put|store) (?:(?:this|it) )?(?:to|in|into) (?:(?:your|the|this|our|my) )?"
    "(?:(?:server|guild)(?:'s)? )?(?:memory|memories)",
    "update your memory",
    "for (?:future|later) reference",
)

_ES_SERVER = "(?:(?:el|este|nuestro|mi|todo el) )?(?:servidor|server|grupo|clan)"
_ES_FOR = (
    f"(?: (?:por|para) (?:mí|mi(?! serv)|nosotr[oa]s|tod[oa]s(?: aquí)?(?: en {_ES_SERVER})?)"
    f"| (?:por|para|en) {_ES_SERVER})?"
)
_ES_THAT = _any(" (?:de )?que\\b", r" (?:esto|lo siguiente)\b ?[:,]?", r" ?[:,]")
_ES_NOT = _any(
    "no (?:(?:te|se|lo|se te) )?(?:olvides|olvidés|olvide|olviden|olvidar)",
    "no (?:(?:te|lo) )?vayas a olvidar",
)
_ES_REMEMBER = _any(
    "recuerda|recordá|recuerde|recuerden|recuerdes|recordar",
    "acuérdate|acuerdate|acordate|acuérdese|te acuerdes",
)
_ES_NOTE = _any(
    "(?:toma|tomá|tome|tomar|tomes) nota",
    "(?:ten|tené|tenga|tener|tengas) (?:en cuenta|presente)",
    "guard(?:a|á|ar|e|es)(?: (?:esto|en (?:(?:tu|la) )?memoria(?: del servidor)?))?",
    "(?:apunt|anot|memoriz|registr|grab)(?:a|á|ar|e|es)(?:me|te)?",
    "(?:apúnta|anóta|grába)(?:te|me)",
    "memorice|memorices",
    "(?:agrega|agregar|añade|añadir) a (?:(?:tu|la) )?memoria",
)

_FIL_FOR = (
    "(?: para sa (?:akin|amin|atin|lahat(?: dito)?)"
    "| (?:para )?sa (?:buong )?(?:server|grupo|clan)(?: (?:na ito|namin|natin|ko))?)?"
)
_FIL_THAT = _any(" (?:na|that)\\b", r" '?(?:ito|to)\b ?[:,]?", r" ?[:,]")
_FIL_YOU = r"(?: (?:mo|niyo|nyo|ninyo|po|nga|lang|palagi|lagi)\b){0,5}(?: (?:mong|ninyong|niyong|nyong)\b)?"
_FIL_REMEMBER = _any(
    "(?:paki[- ]?)?(?:tandaan|alalahanin)",
    "isaisip",
    "i-?remember|remember",
    "(?:paki[- ]?)?(?:i-?)?(?:save|note)",
    "(?:isulat|ilista|itala)|paki(?:sulat|lista|tala)",
    "itatak(?: mo)? sa isip",
    "ilagay(?: mo)? sa (?:memory|alaala)(?: mo)?",
)
_FIL_NOT = (
    r"(?:huwag|'?wag|hwag) (?:na )?(?:mo(?:ng)?|ninyo|ninyong|nyong|niyong) (?:sanang )?"
    "(?:kalimutang?|kakalimutan)"
)

REMEMBER: tuple[tuple[Language, str], ...] = (
    (Language.EN, f"remember{_EN_FOR}{_EN_THAT}"),
    (Language.EN, rf"remember(?: for me|(?= for){_EN_ALL})? {_EN_ME}"),
    (Language.EN, rf"remember(?= for){_EN_ALL}(?: ?, (?=\S)| {_EN_BARE})"),
    (Language.EN, f"remember{_EN_TO}"),
    (Language.EN, f"{_EN_NOT}{_EN_FOR}{_EN_THAT}"),
    (Language.EN, rf"{_EN_NOT} {_EN_ME}"),
    (Language.EN, f"{_EN_NOTE}{_EN_FOR}{_EN_THAT}"),
    (Language.ES, f"{_ES_REMEMBER}{_ES_FOR}{_ES_THAT}"),
    (Language.ES, f"{_ES_NOT}{_ES_FOR}{_ES_THAT}"),
    (Language.ES, f"{_ES_NOTE}{_ES_FOR}{_ES_THAT}"),
    (Language.FIL, rf"{_FIL_REMEMBER}{_FIL_YOU}{_FIL_FOR}(?:{_FIL_THAT}|(?<=ng)\s)"),
    (Language.FIL, rf"{_FIL_NOT}{_FIL_FOR}(?:{_FIL_THAT}|(?<=kalimutang)\s)"),
)
AT_START: tuple[tuple[Language, str], ...] = (
    (Language.EN, rf"(?:remember|{_EN_NOT}) {_EN_BARE}"),
    (Language.EN, "(?:make|take) a note of "),
    (
        Language.ES,
        rf"(?:{_ES_REMEMBER}|{_ES_NOT}|apunta|anota) (?=(?:mi|mis|nuestr[oa]s?|el|la|los|las|lo)\b)",
    ),
    (Language.ES, rf"(?:{_ES_REMEMBER}|{_ES_NOT}|apunta|anota) (?=(?:a )?{_MEMBER} (?!(?:del?|y|en)\b)\S)"),
    (Language.FIL, rf"(?:{_FIL_REMEMBER} mo|{_FIL_NOT}) (?=(?:si )?{_MEMBER} \S)"),
    (Language.FIL, rf"{_FIL_REMEMBER} (?=si {_MEMBER} \S)"),
    (
        Language.FIL,
        rf"(?:{_FIL_REMEMBER} (?:mo|niyo|nyo|ninyo)|{_FIL_NOT}) "
        r"(?=(?:ang|'?yung|si|birthday|may|allergic)\b)",
    ),
)
AFTERWARDS: tuple[tuple[Language, str], ...] = (
    (
        Language.EN,
        r"(?:(?:please|pls|so|and) ){0,4}"
        + _any(
            "(?:remember|don'?t forget|do not forget|save|note|memori[sz]e) (?:that|this|it)",
            "(?:keep|bear) (?:that|this|it) in mind",
        ),
    ),
    (
        Language.ES,
        r"(?:(?:por favor|y|así que),? ){0,4}"
        + _any(
            "recuérdalo|recordalo|apúntalo|anótalo|guárdalo",
            "recuerda (?:eso|esto)",
            "no lo olvides",
            "tenlo en cuenta",
            "(?:acuérdate|no te olvides)(?: de (?:eso|esto))?",
        ),
    ),
    (
        Language.FIL,
        r"(?:(?:please|at|kaya) ){0,4}"
        + _any("(?:paki)?tandaan(?: mo)?", "i-?(?:save|note) mo", "(?:huwag|'?wag) mo(?:ng)? kalimutan")
        + r" (?:'?yan|iyan|'?to|ito|'?yun|iyon)",
    ),
)

_EN_DROP = "(?:delete|remove|erase|wipe|clear|drop)"
_ES_DROP = "(?:(?:borr|elimin|quit)(?:a|á|ar|e|es)|quites)"
_FIL_DROP = "(?:burahin|tanggalin|alisin|i-?delete|delete|i-?remove|paki(?:bura|tanggal|alis))"
FORGET: tuple[tuple[Language, str], ...] = (
    (
        Language.EN,
        r"forget(?: (?:that|about|the fact that|what i (?:said|told you) about)\b| ?:)?\s",
    ),
    (
        Language.EN,
        rf"{_EN_DROP} (?:(?:the|that|your|this) )?memor(?:y|ies)(?: (?:that|about|of|where)\b| ?:)?\s",
    ),
    (Language.EN, rf"{_EN_DROP} (?=m\d++\b|.{{1,300}} from (?:your |the )?memor(?:y|ies)\b)"),
    (
        Language.EN,
        rf"{_EN_DROP} (?=(?:everything|all)\b.{{0,60}}\b"
        r"(?:about (?:me|us)|you (?:know|remember)|memor(?:y|ies))\b)",
    ),
    (Language.EN, r"(?:stop remembering|(?:don'?t|do not) remember)(?: (?:that|about)\b)?\s"),
    (
        Language.ES,
        r"(?:olvid(?:a|á|e|es|ar)|olv[ií]date|te olvides)(?: (?:de )?(?:que|lo de)\b| de\b| ?:)?\s",
    ),
    (
        Language.ES,
        rf"{_ES_DROP} (?:(?:el|ese|este|tu) recuerdo|(?:la|esa|esta) memoria)"
        r"(?: (?:de que|de|que|sobre)\b| ?:)?\s",
    ),
    (Language.ES, rf"{_ES_DROP} de tu memoria (?:que |lo de )?"),
    (Language.ES, rf"{_ES_DROP} (?=m\d++\b|.{{1,300}} de (?:tu|la) memoria\b)"),
    (Language.ES, rf"{_ES_DROP} (?=todo\b.{{0,60}}\b(?:m[ií]|sabes|recuerdas|memoria|recuerdos)\b)"),
    (Language.ES, r"(?:no recuerdes|deja de recordar)(?: que\b)?\s"),
    (
        Language.FIL,
        r"(?:paki[- ]?)?kalimutan(?: (?:mo|niyo|nyo|ninyo|po)\b){0,5}(?: mong)?(?: na\b){0,3}"
        r"(?: (?:lahat )?tungkol sa)?\s",
    ),
    (
        Language.FIL,
        rf"{_FIL_DROP}(?: (?:mo|niyo|nyo|ninyo))?(?: na)? "
        r"(?=m\d++\b|(?:ang )?lahat\b.{0,60}\b(?:akin|alam mo|naaalala mo|alaala)\b"
        r"|.{1,300} sa (?:memory|alaala)\b|(?:ang|'?yung) (?:memory|alaala)\b)",
    ),
)

CHANGE: tuple[tuple[Language, str], ...] = (
    (Language.EN, r"(?:change|update|correct|edit) (?=(?:m\d++|\S{1,60}+ ).{0,300}?(?:to |: ?))"),
    (
        Language.ES,
        r"(?:(?:cambi|actualiz)(?:a|á|ar|e|es)|corr[ií]ge|corregir|corrija|corrijas) "
        r"(?=.{2,300}? (?:a|al|por) )",
    ),
    (
        Language.FIL,
        r"(?:palitan|baguhin|i-?update|i-?change|paki(?:palitan|bago|update))"
        r"(?: (?:mo|niyo|nyo|po|na)\b){0,3} "
        r"(?=.{2,300}? (?:ng|sa|to|nang) )",
    ),
)
BECOMES = {
    Language.EN: r" to (?:be )?|: ?| to: ?",
    Language.ES: r" al? |: | por ",
    Language.FIL: r" (?:ng|nang|sa|to) |: ",
}
"""What stands between what is changed and its new value."""

SMALL_WORDS = {
    Language.EN: "the is are i my you what when where who how do does did and to of in it that we our your"
    " was have has am i'm for with on not can will would a an be this me about know hello hi thanks",
    Language.ES: "el la los las es soy eres que qué de en mi mis tu tus cuál cuando cuándo dónde cómo quién y"
    " un una no sí se me te lo yo tengo tiene está estoy son por para con del al nuestro nuestra hola a"
    " gracias sabes cumpleaños cuáles cuánto cuántos quiénes dime cuéntame explica explícame muestra busca"
    " borra olvida recuerda buenos buenas días tardes noches ayuda",
    Language.FIL: "ang ng mga sa ako ko mo ka na ay si ni kay ano sino saan kailan paano ba po at may hindi"
    " siya namin natin kami tayo aking akin yung 'yung iyon ito yan lang din rin kasi naman para oo gusto"
    " kumusta salamat anong kapag alin ilan magkano magandang umaga hapon gabi sabihin ikwento hanapin"
    " ipaliwanag burahin kalimutan tandaan",
}
"""What a language is guessed by."""
