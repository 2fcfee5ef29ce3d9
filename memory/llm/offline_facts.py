"""From a member's own words to an entry: short, self-standing, nothing added. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memory.llm.lookup import COPULA, fold, key, terms
from memory.llm.offline_prompt import Line
from memory.phrases import Language, plain, straight

_MINE = {
    Language.EN: re.compile(r"(?:i|i'm|im|i've|i'll|i'd|my|me)\b", re.IGNORECASE),
    Language.ES: re.compile(
        r"(?:yo|soy|mi|mis|me|tengo|estoy|vivo|no\s+(?:soy|me|tengo|como|puedo))\b", re.IGNORECASE
    ),
    Language.FIL: re.compile(r".*\b(?:ako|ko|akin|aking)\b", re.IGNORECASE | re.DOTALL),
}
_SHARED = {
    Language.EN: re.compile(
        r"\b(?:server|everyone|everybody|we|we're|we've|our|us|guild|clan|group|team|community)\b",
        re.IGNORECASE,
    ),
    Language.ES: re.compile(
        r"\b(?:servidor|server|todos|todas|nosotr[oa]s|nuestr[oa]s?|somos|tenemos|jugamos|nos|grupo|clan"
        r"|gremio|equipo)\b",
        re.IGNORECASE,
    ),
    Language.FIL: re.compile(
        r"\b(?:server|lahat|tayo|natin|nating|atin|kami|namin|naming|amin|grupo|clan|guild|team)\b",
        re.IGNORECASE,
    ),
}


def is_shared(thing: str, language: Language) -> bool:
    """Whether it is about the server rather than about whoever says it (SPEC §4.4: about)."""
    return not _MINE[language].match(thing) and bool(_SHARED[language].search(thing))


_BEFORE_MEMBER = {
    Language.EN: re.compile(r"(?=@|<@)"),
    Language.ES: re.compile(r"(?:a\s+)?(?=@|<@)", re.IGNORECASE),
    Language.FIL: re.compile(r"(?:(?:si|kay)\s+)?(?=@|<@)", re.IGNORECASE),
}
_SI_MEMBER = re.compile(r"\s(?:si|ni|kay)\s(?=@|<@)", re.IGNORECASE)
_WITH = re.compile(r"(?:and|or|y|e|o|at|&|,)(?:\s|$)", re.IGNORECASE)


def about_another(thing: str, language: Language, names: Collection[str]) -> tuple[str, str] | None:
    """The mentioned member whom a fact is about, and the rest of it: ("Ben", "likes tea").

    ``names``: display names of members in the prompt, which may hold blanks. None when it begins otherwise.
    """
    start = _BEFORE_MEMBER[language].match(thing)
    if start is None and language is Language.FIL:
        start = _SI_MEMBER.search(thing)
    if start is None or _MINE[language].match(thing):
        return None
    named, length = _mentioned(thing[start.end() :], names)
    if not named:
        return None
    rest = thing[start.end() + length :]
    rest = re.sub(r"^(?:'s|\s+ay)\s+", " ", rest, flags=re.IGNORECASE)
    if not rest[:1].isspace() and start.start() == 0:
        return None
    fact = f"{thing[: start.start()]} {rest}".strip()
    return None if not fact or _WITH.match(rest.strip()) else (named, fact)


def _mentioned(text: str, names: Collection[str]) -> tuple[str, int]:
    """The member named at the start of a text, as the prompt spells them, and how long the mention is."""
    for name in sorted(names, key=len, reverse=True):
        called = re.match(rf"@{re.escape(straight(name))}(?!\w)", text, re.IGNORECASE)
        if called:
            return name, called.end()
    called = re.match(r"<@!?\d{1,20}>|@[\w-]+", text)
    return (called[0].removeprefix("@"), called.end()) if called else ("", 0)


_NAMED = {
    Language.EN: (r"(?P<head>)NAME(?:'s)?(?P<rest>\s.+)",),
    Language.ES: (
        r"(?P<head>)(?:a\s+)?NAME(?P<rest>\s.+)",
        r"(?P<head>(?:no\s+)?les?\s.+)\s+a\s+NAME(?P<rest>)[.!]?",
        r"(?P<head>(?:el|la|los|las)\s+\w+)\s+de\s+NAME(?P<rest>\s+(?:es|son|est[aá]n?|se)\s.+)",
    ),
    Language.FIL: (
        r"(?P<head>)(?:si\s+)?NAME(?:\s+ay)?(?P<rest>\s.+)",
        r"(?P<head>(?:(?!(?:ay|at|sa|si|ni|kay)\s)\S+\s+){1,3})(?:si|ni)\s+NAME(?P<rest>\s.+|[.!]?)",
    ),
}
"""Where a fact names whom it is about: at its beginning, or in the word order of Spanish and Filipino."""


def about_named(thing: str, language: Language, names: Collection[str]) -> tuple[str, str] | None:
    """Whom a fact is about that names them without a mention, as :func:`about_another` gives it.

    Of names that begin alike the longest counts. None for a fact that speaks of its teller too ("Ben is my
    brother"): under another's heading, "my" would be another's.
    """
    found: list[tuple[str, str]] = []
    for name in names:
        spelled = re.escape(plain(name))
        for pattern in _NAMED[language]:
            made = re.fullmatch(pattern.replace("NAME", spelled), thing, re.IGNORECASE | re.DOTALL)
            if made and not _other_word(name, thing) and not _goes_on(made["rest"]):
                found.append((name, f"{made['head'].strip()}{made['rest']}".strip()))
    found.sort(key=lambda each: len(each[0]), reverse=True)
    if not found or _SPEAKER.search(found[0][1]):
        return None
    return None if [len(name) for name, _ in found].count(len(found[0][0])) > 1 else found[0]


def _other_word(name: str, thing: str) -> bool:
    """Whether a name like "Will" is more likely the common word: it is, unless it is written as the name."""
    return not terms(name) and not (name[:1].isupper() and re.search(rf"\b{re.escape(name)}\b", thing))


def _goes_on(rest: str) -> bool:
    """Whether a second name follows, as in "Ben Lee" or "Ben and Ana": not about this one alone."""
    return rest.strip()[:1].isupper() or _WITH.match(rest.strip()) is not None


_EN_VERBS = {"have": "Has", "do": "Does", "go": "Goes", "am": "", "was": "Was", "watch": "Watches"}
_EN_PLAIN_VERB = re.compile(
    r"(have|do|go|watch|like|love|hate|live|play|prefer|work|need|want|drink|eat|speak|study|own|use|enjoy|sleep|wake|take|keep|collect|hear|get|come|run|cook|read|write|sing|dance|draw|teach"
    r"|moved?|go\s+by)\b",
    re.IGNORECASE,
)


def _english(thing: str) -> str:
    for pattern, made in (
        (r"(?:i'm|im|i\s+am)\s+(?=not\b)", ""),
        (r"(?:i'm|im|i\s+am)\s+", ""),
        (r"i've\s+(?:got\s+)?", "Has "),
        (r"i\s+(?=(?:can|can't|cannot|don't|do\s+not|won't|will|never|always|was|used)\b)", ""),
        (r"(?:me\s+as|to\s+call\s+me|call\s+me)\s+", "Goes by "),
        (r"my\s+", ""),
    ):
        changed, hits = re.subn(rf"^{pattern}", made, thing, count=1, flags=re.IGNORECASE)
        if hits:
            return changed
    verb = re.match(r"i\s+", thing, re.IGNORECASE)
    plain = _EN_PLAIN_VERB.match(thing, verb.end()) if verb else None
    if plain is None:
        return thing
    word = plain[1].casefold()
    if word.startswith("go "):
        return "Goes by" + thing[plain.end() :]
    inflected = word if word.endswith("ed") else _EN_VERBS.get(word) or _third(word)
    return inflected + thing[plain.end() :]


def _third(word: str) -> str:
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeou" else word + "s"


def _spanish(thing: str) -> str:
    for pattern, made in (
        (r"(?:yo\s+)?soy\s+", ""),
        (r"(?:yo\s+)?me\s+llamo\s+", "Se llama "),
        (r"(?:yo\s+)?tengo\s+", "Tiene "),
        (r"(?:yo\s+)?no\s+tengo\s+", "No tiene "),
        (r"(?:yo\s+)?vivo\s+", "Vive "),
        (r"(?:a\s+m[ií]\s+)?me\s+gusta(n?)\s+", r"Le gusta\1 "),
        (r"(?:a\s+m[ií]\s+)?no\s+me\s+gusta(n?)\s+", r"No le gusta\1 "),
        (r"(?:yo\s+)?prefiero\s+", "Prefiere "),
        (r"(?:yo\s+)?odio\s+", "Odia "),
        (r"(?:yo\s+)?no\s+como\s+", "No come "),
        (r"mis?\s+([^\W\d_]+(?:\s[^\W\d_]+)?)\s+es\s+", r"\1: "),
    ):
        changed, hits = re.subn(rf"^{pattern}", made, thing, count=1, flags=re.IGNORECASE)
        if hits:
            return changed
    return thing


def _filipino(thing: str) -> str:
    named = re.match(r"ako\s+si\s+", thing, re.IGNORECASE)
    if named:
        return "Pangalan: " + thing[named.end() :]
    shorter = re.sub(r"^(?:ang|'?yung)\s+", "", thing, flags=re.IGNORECASE)
    # "allergic ako sa mani" → "allergic sa mani": the heading already says whom it is about.
    return re.sub(r"(?<=\S)\s+(?:ako|ko)\b", "", shorter, count=1, flags=re.IGNORECASE)


_SHAPE = {Language.EN: _english, Language.ES: _spanish, Language.FIL: _filipino}


_SPEAKER = re.compile(
    r"\b(?:i|i'm|im|i've|i'll|i'd|my|mine|me|myself|yo|mí|mi|mis|mío|mía|conmigo|soy|tengo|estoy|ako|ko|kong"
    r"|akin|aking|akong)\b",
    re.IGNORECASE,
)
_SPEAKS_BY_VERB = re.compile(
    r"(?:(?:ya|no|solo|sólo|nunca|siempre|también)\s+)*\w+(?:o|oy|é|í)\b", re.IGNORECASE
)
"""Spanish leaves "I" to the verb: "vivo en …", "ya no fumo". A name like "Pedro" passes too: safe."""


def of_nobody(thing: str, language: Language) -> bool:
    """Whether a fact says nothing of whoever tells it: "the inn opens at ten"."""
    if language is Language.ES and _SPEAKS_BY_VERB.match(thing):
        return False
    return not _SPEAKER.search(thing) and not is_shared(thing, language)


def content(thing: str, language: Language, *, as_said: bool) -> str:
    """The entry's text: the member's own words, without "I am" where the heading says whom it is about."""
    thing = " ".join(thing.split())
    text = thing if as_said else _SHAPE[language](thing).strip()
    text = text or thing
    return text[:1].upper() + text[1:]


_ONE_VALUE = re.compile(
    r"\b(?:name|nickname|birthday|age|pronouns?|time ?zone|favou?rite|nombre|apodo|cumpleanos|edad"
    r"|favorit[oa]|pangalan"
    r"|palayaw|kaarawan|paboritong?)\b"
)
_CORRECTION = re.compile(
    r"\b(?:actually|correction|update|now|instead|changed|no longer|anymore|en realidad|correccion|ahora"
    r"|ya no|cambio"
    r"|pala|actually|ngayon|hindi na)\b"
)


def supersedes(text: str, message: str, lines: Sequence[Line]) -> Line | None:
    """The entry that ``text`` gives a new value to: the same key before "is", another value after it.

    Only for what has one value (a name, a birthday, a favourite), or when the message says that it corrects.
    """
    what, value = _split(text)
    if not what or not value:
        return None
    for line in reversed(lines):
        old_key, old_value = _split(line.text)
        single = _ONE_VALUE.search(fold(what)) or _CORRECTION.search(fold(message))
        if single and terms(what) == terms(old_key) and fold(value) != fold(old_value) and old_value:
            return line
    return None


def _split(text: str) -> tuple[str, str]:
    parts = COPULA.split(text, maxsplit=1)
    return (parts[0].strip(), parts[1].strip()) if len(parts) == 2 else ("", "")


def renewed(old: str, thing: str, value: str, language: Language) -> str:
    """The entry ``old`` with a new value for ``thing``; without a thing ("change m4 to …"), for the whole."""
    copula = COPULA.search(old)
    asked = set(terms(thing))
    if copula and (asked & set(key(old)) or (not thing and not COPULA.search(value))):
        return old[: copula.end()] + value
    if not thing:
        return content(value, language, as_said=False)
    there = re.search(rf"(?<!\w){re.escape(straight(thing))}(?!\w)", straight(old), re.IGNORECASE)
    if there:
        return old[: there.start()] + value + old[there.end() :]
    thing = re.sub(r"^(?:mis?|ang|'?yung)\s+", "", thing, flags=re.IGNORECASE)
    return content(f"{thing}: {value}", language, as_said=False)
