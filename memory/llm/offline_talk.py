"""Small talk: greetings, "how are you?", thanks, "who are you?" in English, Spanish and Filipino. Pure."""

from __future__ import annotations

import re
from enum import StrEnum

from memory.phrases import Language, straight


class Talk(StrEnum):
    """What a message is when it asks for nothing that could be looked up."""

    GREETING = "greeting"
    THANKS = "thanks"
    WHO = "who"


_EN, _ES, _FIL = Language.EN, Language.ES, Language.FIL
_WHEN = "day|morning|afternoon|evening|night|week|weekend"
_PHRASES: tuple[tuple[Talk | None, Language | None, str], ...] = (
    (Talk.GREETING, _EN, rf"hi+|hello+|hey+|yo|howdy|good (?:{_WHEN})"),
    (
        Talk.GREETING,
        _EN,
        r"how (?:are|r) (?:you|u|ya|things)(?: (?:all|doing|feeling|going|today|now|tonight|guys)){0,3}"
        r"|how(?:'s| is) (?:it|everything|life)(?: going)?|how have you been|how do you do|how goes it"
        rf"|how(?:'s| is| was) your (?:{_WHEN})(?: going)?|how are you holding up"
        r"|what(?:'s| is) (?:up|new|going on)|sup|what are you (?:doing|up to)"
        r"|(?:are )?you (?:ok|okay|there|awake)"
        r"|(?:it's )?(?:nice|good|great) to (?:meet|see) (?:you|u)(?: (?:all|again|too)){0,2}",
    ),
    (
        Talk.GREETING,
        _ES,
        r"hola+|buen[oa]s(?: d[ií]as| tardes| noches)?|buen d[ií]a|qu[eé] (?:hay|onda|pasa|cuentas|haces)"
        r"|c[oó]mo (?:est[aá]s?|est[aá]n|and[aá]s|va|vas|te va|les va)(?: (?:todo|t[uú]|hoy|usted)){0,2}"
        r"|qu[eé] tal(?: (?:est[aá]s?|todo|va|hoy)){0,2}"
        r"|(?:qu[eé] tal|c[oó]mo (?:va|fue)) tu (?:d[ií]a|noche)"
        r"|todo bien|mucho gusto|encantad[oa](?: de conocerte)?",
    ),
    (
        Talk.GREETING,
        _FIL,
        r"(?:kumusta|kamusta|musta)(?: (?:ka|kayo|na|naman|po|ba)){0,4}(?: ang araw mo)?"
        r"|magandang (?:umaga|tanghali|hapon|gabi|araw)|uy|hoy|(?:ayos|okay|ok) ka lang(?: ba)?"
        r"|ano(?:'ng|ng| ang) (?:balita|bago|ginagawa mo)",
    ),
    (
        Talk.THANKS,
        _EN,
        r"(?:thanks?(?: you| u)?|thx|ty|cheers)"
        r"(?: (?:so much|very much|a lot|for (?:that|everything|your help))){0,2}",
    ),
    (Talk.THANKS, _ES, r"(?:much[ií]simas |muchas |mil )?gracias(?: por todo)?"),
    (Talk.THANKS, _FIL, r"(?:(?:maraming|daghang) )?salamat(?: (?:sa iyo|talaga|ha)){0,2}"),
    (
        Talk.WHO,
        _EN,
        r"(?:who|what) (?:exactly )?(?:are|r) (?:you|u)(?: (?:exactly|again|really))?|who am i talking to"
        r"|what(?:'s| is) your name|(?:introduce|describe) yourself|tell (?:me|us) about (?:yourself|you)"
        r"|are you (?:an? )?(?:bot|human|robot|ai|real)",
    ),
    (
        Talk.WHO,
        _ES,
        r"(?:qui[eé]n|qu[eé]) (?:eres|sos|es usted)(?: t[uú])?|c[oó]mo te llamas|cu[aá]l es tu nombre"
        r"|pres[eé]ntate|(?:cu[eé]ntame|h[aá]blame) (?:de|sobre) (?:ti|vos)|eres (?:un )?(?:bot|robot)",
    ),
    (
        Talk.WHO,
        _FIL,
        r"(?:sino|ano) ka(?: (?:ba|po)){0,2}|ano(?:ng|'ng)?(?: ang)? pangalan mo|magpakilala ka|bot ka ba",
    ),
    (
        None,
        None,
        r"there|keepsake|bot|po|everyone|everybody|all|friends?|guys|and|please|pls|oh|ok|okay|so|well"
        r"|(?:a )?tod[oa]s|amig[oa]s?|y|pues|por favor|sa lahat|naman|at",
    ),
)
_KNOWN = tuple(
    (talk, tongue, re.compile(rf"(?:{body})(?!\w)", re.IGNORECASE)) for talk, tongue, body in _PHRASES
)
_BETWEEN = re.compile(r"(?:@\S*+|[^\w@])*+")


def small_talk(text: str, bot: str) -> tuple[Talk, Language] | None:
    """What a message is that holds nothing but small talk, and its language; None for any other.

    ``bot``: the name that it may call the bot by. The language is that of the last phrase: people of every
    language say "hi" first.
    """
    said = straight(text)
    if bot:
        said = re.sub(rf"(?<!\w){re.escape(straight(bot))}(?!\w)", " ", said, flags=re.IGNORECASE)
    said = re.sub(r"\s+", " ", said)
    found: set[Talk] = set()
    tongue: Language | None = None
    at = _past(said, 0)
    while at < len(said):
        fits = [(m.end(), talk, spoken) for talk, spoken, rx in _KNOWN if (m := rx.match(said, at))]
        if not fits:
            return None
        at, talk, spoken = max(fits, key=lambda fit: fit[0])
        if talk is not None and spoken is not None:
            tongue = spoken
            found.add(talk)
        at = _past(said, at)
    if tongue is None:
        return None
    return next(each for each in (Talk.WHO, Talk.GREETING, Talk.THANKS) if each in found), tongue


def _past(said: str, at: int) -> int:
    """Where the next word begins; mentions, signs and blanks say nothing."""
    between = _BETWEEN.match(said, at)
    return between.end() if between else at
