"""The offline responder's sentences in English, Spanish and Filipino, and how it quotes. Pure.

What it quotes is shown as text only: markdown is escaped, and nothing can mention anybody.
"""

from __future__ import annotations

import re

from memory.llm.offline_prompt import OWN_NAME, Access, Line, Where
from memory.phrases import Language

EN, ES, FIL = Language.EN, Language.ES, Language.FIL

QUOTE_LIMIT = 300
"""Code points of one quotation."""

_URL = re.compile(r"https?://[^\s<>\"*|`\\]+")
_MARKS = re.compile(r"([\\*_~`|<>\[\]()#])")
_LINE_START = re.compile(r"^(\s*)([-+]|\d+\.)(?=\s)")
_GAP = "\u200b"
_TURNING = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Signs that turn the direction of what follows them, beyond a quotation's end too."""

_INNER = str.maketrans(dict.fromkeys('"“”„‟«»＂″〝〞❝❞', "'"))


def neutral(text: str) -> str:
    """``text`` as Discord shows it literally, on one line. Addresses stay whole and can be followed."""
    text = " ".join(_TURNING.sub("", text).split())
    out: list[str] = []
    at = 0
    for url in _URL.finditer(text):
        out += (_escaped(text[at : url.start()]), _unmentioning(url[0]))
        at = url.end()
    out.append(_escaped(text[at:]))
    return _LINE_START.sub(r"\1\\\2", "".join(out))


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", text).replace("@", "@" + _GAP)


def _unmentioning(url: str) -> str:
    return re.sub(r"@(?=everyone|here)", "@" + _GAP, url, flags=re.IGNORECASE)


def quoted(text: str) -> str:
    """``"…"`` around the neutralised text, cut at 300 code points. Quotation marks in it become ``'``: the
    only ``"`` are where it begins and ends.
    """
    cut = text if len(text) <= QUOTE_LIMIT else text[:QUOTE_LIMIT].rstrip()
    return f'"{neutral(cut.translate(_INNER))}"' + ("" if cut == text else " …")


_SOURCES = {
    Where.MEMORY: {
        EN: "From memory ({handle})",
        ES: "De la memoria ({handle})",
        FIL: "Mula sa memorya ({handle})",
    },
    Where.SUMMARY: {EN: "From the summary", ES: "Del resumen", FIL: "Mula sa buod"},
    Where.DOCUMENT: {EN: "From a document", ES: "De un documento", FIL: "Mula sa isang dokumento"},
    Where.NOTES: {EN: "From my notes", ES: "De mis notas", FIL: "Mula sa mga tala ko"},
    Where.LORE: {EN: "From the lore", ES: "Del lore", FIL: "Mula sa lore"},
    Where.WINDOW: {
        EN: "{name} said",
        ES: "{name} dijo",
        FIL: "Sabi ni {name}",
    },
}


def cited(line: Line, language: Language) -> str:
    """A line with its source: ``From memory (m12): "…"``.

    Without the time of what was said: the prompt's is UTC, and each reader has a clock of their own.
    """
    source = _SOURCES[line.where][language]
    return f"{source.format(handle=line.handle, name=neutral(line.name))}: {quoted(line.text)}"


SUFFIX = {
    EN: "-# Offline: no model is configured",
    ES: "-# Sin conexión: no hay ningún modelo configurado",
    FIL: "-# Offline: walang naka-configure na modelo",
}
NOTHING = {
    Access.FULL: {
        EN: "I found nothing about that. No model is configured, so I can only look things up in what I "
        "remember and in this conversation, and save or forget memories. The operator can configure a model.",
        ES: "No encontré nada sobre eso. No hay ningún modelo configurado: solo puedo buscar en lo que "
        "recuerdo y en esta conversación, y guardar u olvidar recuerdos. Quien administra el bot puede "
        "configurar un modelo.",
        FIL: "Wala akong nakita tungkol diyan. Walang naka-configure na modelo, kaya makakahanap lang ako "
        "sa mga naaalala ko at sa usapang ito, at makakapag-save o makakalimot ng alaala. Puwedeng "
        "mag-configure ng modelo ang operator.",
    },
    Access.READ: {
        EN: "I found nothing about that. No model is configured, so I can only look things up in what I "
        "remember and in this conversation. The operator can configure a model.",
        ES: "No encontré nada sobre eso. No hay ningún modelo configurado: solo puedo buscar en lo que "
        "recuerdo y en esta conversación. Quien administra el bot puede configurar un modelo.",
        FIL: "Wala akong nakita tungkol diyan. Walang naka-configure na modelo, kaya makakahanap lang ako "
        "sa mga naaalala ko at sa usapang ito. Puwedeng mag-configure ng modelo ang operator.",
    },
    Access.NONE: {
        EN: "I found nothing about that in this conversation. I was given no saved memories here and may "
        "write none: that is an admin's choice (in a DM, maybe yours). No model is configured, so I can "
        "only look up what was said. The operator can configure a model.",
        ES: "No encontré nada sobre eso en esta conversación. Aquí no se me da ningún recuerdo guardado ni "
        "puedo escribir ninguno: así lo eligió un admin (en un MD, quizá tú). No hay ningún modelo "
        "configurado: solo puedo buscar en lo que se dijo. Quien administra el bot puede configurar "
        "un modelo.",
        FIL: "Wala akong nakita tungkol diyan sa usapang ito. Walang ibinigay sa akin na naka-save na alaala "
        "dito, at hindi ako puwedeng magsulat: pinili iyan ng isang admin (sa DM, baka ikaw). Walang "
        "naka-configure na modelo, kaya sa mga sinabi lang ako makakahanap. Puwedeng mag-configure ng modelo "
        "ang operator.",
    },
}
OFFER = {
    Access.FULL: {
        EN: "Ask me what I remember, or tell me what to remember.",
        ES: "Pregúntame qué recuerdo o dime qué recordar.",
        FIL: "Itanong mo kung ano ang naaalala ko, o sabihin mo kung ano ang tatandaan ko.",
    },
    Access.READ: {
        EN: "Ask me what I remember.",
        ES: "Pregúntame qué recuerdo.",
        FIL: "Itanong mo kung ano ang naaalala ko.",
    },
    Access.NONE: {
        EN: "Ask me about what was said in this conversation.",
        ES: "Pregúntame por lo que se dijo en esta conversación.",
        FIL: "Itanong mo ang mga nasabi sa usapang ito.",
    },
}
WELCOME = {EN: "You're welcome!", ES: "¡De nada!", FIL: "Walang anuman!"}
GREETING = {EN: "Hi {name}!", ES: "¡Hola, {name}!", FIL: "Hi {name}!"}
ANYBODY = {EN: "there", ES: "qué tal", FIL: "sa iyo"}
WHAT_TO_REMEMBER = {
    EN: "What should I remember? Tell me in one message, like: remember that my birthday is May 3.",
    ES: "¿Qué debo recordar? Dímelo en un solo mensaje, por ejemplo: recuerda que mi cumpleaños es el 3 de "
    "mayo.",
    FIL: "Ano ang tatandaan ko? Sabihin sa isang mensahe, gaya ng: tandaan mo na sa Mayo 3 ang birthday ko.",
}
_WRITTEN_ABOUT = {
    EN: "This is written about me: {text}",
    ES: "Esto está escrito sobre mí: {text}",
    FIL: "Ito ang nakasulat tungkol sa akin: {text}",
}
_CHARACTER = {EN: "I'm {name}.", ES: "Soy {name}.", FIL: "Ako si {name}."}
_BUILT_IN = {
    EN: "I'm {name}Keepsake's built-in persona, without a model.",
    ES: "Soy {name}el personaje integrado de Keepsake, sin modelo.",
    FIL: "Ako {name}ang built-in na persona ng Keepsake, na walang modelo.",
}
_CALLED = {EN: "{name}, ", ES: "{name}, ", FIL: "si {name}, "}


def identity(name: str, about: str, language: Language, *, character: bool) -> str:
    """Who answers. ``about``: the first sentence of its description, "" when there is none."""
    if character:
        said = _CHARACTER[language].format(name=neutral(name))
    else:
        own = not name or name == OWN_NAME
        called = "" if own else _CALLED[language].format(name=neutral(name))
        said = _BUILT_IN[language].format(name=called)
    return f"{said} {_WRITTEN_ABOUT[language].format(text=quoted(about))}" if about else said


NO_TOOLS = {
    Access.READ: {
        EN: "Nothing was saved, changed or deleted: here I only read memories. That is an admin's choice (in "
        "a DM, yours). `/memory add` and `/memory delete` still work for you.",
        ES: "No se guardó, cambió ni borró nada: aquí solo leo recuerdos. Así lo eligió un admin (en un MD, "
        "tú). `/memory add` y `/memory delete` te siguen funcionando.",
        FIL: "Walang na-save, nabago o nabura: nagbabasa lang ako ng alaala rito. Pinili iyan ng isang admin "
        "(sa DM, ikaw). Gumagana pa rin para sa iyo ang `/memory add` at `/memory delete`.",
    },
    Access.NONE: {
        EN: "Nothing was saved, changed or deleted: I was given no saved memories here and may write none. "
        "That is an admin's choice (in a DM, maybe yours). What you add with `/memory add` is kept, but "
        "used only where memories are read.",
        ES: "No se guardó, cambió ni borró nada: aquí no se me da ningún recuerdo guardado ni puedo escribir "
        "ninguno. Así lo eligió un admin (en un MD, quizá tú). Lo que añadas con `/memory add` se conserva, "
        "pero solo se usa donde se leen recuerdos.",
        FIL: "Walang na-save, nabago o nabura: walang ibinigay sa akin na naka-save na alaala rito, at hindi "
        "ako puwedeng magsulat. Pinili iyan ng isang admin (sa DM, baka ikaw). Itatago ang idaragdag mo sa "
        "`/memory add`, pero gagamitin lang kung saan binabasa ang mga alaala.",
    },
}
"""By what may be done; with the tools, nothing of it is said."""

IN_A_DM = {
    EN: "In a DM I can't write what a whole server shares, so nothing was saved. Say it in that server, or "
    "use `/memory add` there.",
    ES: "En un MD no puedo escribir lo que comparte todo un servidor, así que no se guardó nada. Dilo en ese "
    "servidor o usa allí `/memory add`.",
    FIL: "Sa DM, hindi ko maisusulat ang para sa buong server, kaya walang na-save. Sabihin mo iyan sa "
    "server na iyon, o gamitin doon ang `/memory add`.",
}
NOT_REMEMBERED = {
    EN: "I have no saved memory like that, so there is nothing to forget.",
    ES: "No tengo ningún recuerdo guardado así, de modo que no hay nada que olvidar.",
    FIL: "Wala akong naka-save na alaalang ganoon, kaya walang kakalimutan.",
}
WHICH_ONE = {
    EN: "I forget only what you name. Tell me which one by its handle, such as “forget m12”:",
    ES: "Solo olvido lo que nombras. Dime cuál por su código, como «olvida m12»:",
    FIL: "Ang pinangalanan mo lang ang kakalimutan ko. Sabihin ang code, gaya ng “kalimutan m12”:",
}
EVERYTHING = {
    EN: "I forget only what you name. These are your newest entries here; name one by its handle, such "
    "as “forget "
    "m12”, or delete them with `/personal memories`:",
    ES: "Solo olvido lo que nombras. Estas son tus entradas más recientes aquí; nombra una por su "
    "código, como «olvida "
    "m12», o bórralas con `/personal memories`:",
    FIL: "Ang pinangalanan mo lang ang kakalimutan ko. Ito ang mga pinakabago mong entry rito; sabihin "
    "ang code, gaya "
    "ng “kalimutan m12”, o burahin sa `/personal memories`:",
}
NOTHING_OF_YOURS = {
    EN: "I see no entry about you here, so nothing was forgotten. `/personal memories` lists all that I "
    "keep.",
    ES: "Aquí no veo ninguna entrada sobre ti, así que no olvidé nada. `/personal memories` muestra "
    "todo lo que guardo.",
    FIL: "Wala akong nakikitang entry tungkol sa iyo rito, kaya walang nakalimutan. Nasa `/personal "
    "memories` ang lahat.",
}
WHICH_TO_CHANGE = {
    EN: "Which one should I change? Tell me its handle, such as “change m12 to …”:",
    ES: "¿Cuál debo cambiar? Dime su código, como «cambia m12 a …»:",
    FIL: "Alin ang papalitan ko? Sabihin ang code, gaya ng “palitan ang m12 ng …”:",
}
NOTHING_TO_CHANGE = {
    EN: "I have no saved memory like that, so nothing was changed. Say “remember that …” to save one.",
    ES: "No tengo ningún recuerdo guardado así, de modo que no cambié nada. Di «recuerda que …» para "
    "guardar uno.",
    FIL: "Wala akong naka-save na alaalang ganoon, kaya walang nabago. Sabihin ang “tandaan mo na …” "
    "para mag-save.",
}

_DONE = {
    "save_memory": {
        EN: "I'll remember that: {text}.",
        ES: "Lo recordaré: {text}.",
        FIL: "Tatandaan ko iyan: {text}.",
    },
    "update_memory": {
        EN: "I've updated what I remember: {text}.",
        ES: "Actualicé lo que recuerdo: {text}.",
        FIL: "In-update ko ang naaalala ko: {text}.",
    },
    "delete_memory": {
        EN: "I've forgotten that ({handle}).",
        ES: "Ya lo olvidé ({handle}).",
        FIL: "Kinalimutan ko na iyan ({handle}).",
    },
}
SAVED_AS_SAID = {
    EN: "I'll remember that as you said it: {text}. It is kept with your own memories; to keep one for a "
    "whole server, say there “remember for the server that …”.",
    ES: "Lo recordaré tal como lo dijiste: {text}. Queda con tus propios recuerdos; para guardar algo "
    "para todo un servidor, di allí «recuerda para el servidor que …».",
    FIL: "Tatandaan ko iyan gaya ng pagkakasabi mo: {text}. Kasama ito ng sarili mong mga alaala; para sa "
    "buong server, sabihin doon ang “tandaan mo para sa server na …”.",
}
"""For a fact that says nothing of whoever told it, and yet is kept in their scope (SPEC §4.4)."""

WAITS_FOR = {
    EN: "That is about {name}, so it waits: only {name} can approve it, with the button on the notice or with"
    " `/approvals`.",
    ES: "Eso es sobre {name}, así que espera: solo {name} puede aprobarlo, con el botón del aviso o con"
    " `/approvals`.",
    FIL: "Tungkol iyan kay {name}, kaya naghihintay: si {name} lang ang puwedeng mag-apruba, sa button ng"
    " abiso o sa `/approvals`.",
}
"""For a fact about another member (SPEC §4.4)."""

WAITS_FOR_YOU = {
    EN: "That waits for you: press **Approve** below, or open `/approvals`.",
    ES: "Eso espera tu aprobación: pulsa **Approve** abajo, o abre `/approvals`.",
    FIL: "Naghihintay iyan sa iyo: pindutin ang **Approve** sa ibaba, o buksan ang `/approvals`.",
}
"""For a fact about who is answered, where nothing is saved unasked."""

_OUTCOMES = {
    "duplicate": {
        EN: "I already remember that.",
        ES: "Eso ya lo recuerdo.",
        FIL: "Naaalala ko na iyan.",
    },
    "similar_exists": {
        EN: "I already remember something very close to that, so I saved nothing new.",
        ES: "Ya recuerdo algo muy parecido, así que no guardé nada nuevo.",
        FIL: "May naaalala na akong halos ganiyan, kaya wala akong bagong na-save.",
    },
    "limit_reached": {
        EN: "My memory is full here, so I saved nothing. Delete or pin an entry first with /memory.",
        ES: "Mi memoria aquí está llena, así que no guardé nada. Borra o fija antes una entrada con /memory.",
        FIL: "Puno na ang memorya ko rito, kaya walang na-save. Magbura o mag-pin muna gamit ang /memory.",
    },
    "needs_approval": {
        EN: "That waits for approval: a member with Manage Server, or with access to this server's memories,"
        " must approve it.",
        ES: "Eso espera aprobación: debe aprobarlo un miembro con Gestionar servidor, o con acceso a los"
        " recuerdos de este servidor.",
        FIL: "Naghihintay iyan ng pag-apruba: kailangang i-apruba ng miyembrong may Manage Server, o may"
        " access sa mga alaala ng server na ito.",
    },
    "not_allowed": {
        EN: "I may not do that here. Nothing was changed.",
        ES: "No puedo hacer eso aquí. No cambió nada.",
        FIL: "Hindi ko iyan puwedeng gawin dito. Walang nabago.",
    },
    "privacy_restricted": {
        EN: "Privacy settings don't let me do that. Nothing was changed.",
        ES: "La configuración de privacidad no me lo permite. No cambió nada.",
        FIL: "Hindi iyan pinapayagan ng privacy settings. Walang nabago.",
    },
    "disabled": {
        EN: "Saving memories is switched off here. Nothing was changed.",
        ES: "Guardar recuerdos está desactivado aquí. No cambió nada.",
        FIL: "Naka-off dito ang pag-save ng alaala. Walang nabago.",
    },
    "pinned_protected": {
        EN: "That memory is pinned, so I can't change or forget it. Unpin it first with /pins.",
        ES: "Ese recuerdo está fijado, así que no puedo cambiarlo ni olvidarlo. Quítale antes la fijación "
        "con /pins.",
        FIL: "Naka-pin ang alaalang iyan, kaya hindi ko mababago o makakalimutan. I-unpin muna gamit ang "
        "/pins.",
    },
    "not_found": NOT_REMEMBERED,
    "ambiguous_user": {
        EN: "I'm not sure whom you mean. Nothing was saved.",
        ES: "No sé a quién te refieres. No se guardó nada.",
        FIL: "Hindi ko sigurado kung sino ang tinutukoy mo. Walang na-save.",
    },
    "user_not_found": {
        EN: "I don't know whom you mean. Nothing was saved.",
        ES: "No sé a quién te refieres. No se guardó nada.",
        FIL: "Hindi ko kilala ang tinutukoy mo. Walang na-save.",
    },
}
_TOO_LONG = {
    EN: "That is too long for one memory{limit}. Nothing was saved; please shorten it.",
    ES: "Eso es demasiado largo para un recuerdo{limit}. No se guardó nada; acórtalo, por favor.",
    FIL: "Masyadong mahaba iyan para sa isang alaala{limit}. Walang na-save; paikliin mo.",
}
_AT_MOST = {
    EN: " (at most {number} characters)",
    ES: " (como máximo {number} caracteres)",
    FIL: " (hanggang {number} character lang)",
}
_FAILED = {
    EN: "That didn't work, and nothing was changed. Please try again.",
    ES: "No funcionó y no cambió nada. Inténtalo de nuevo.",
    FIL: "Hindi iyon gumana at walang nabago. Pakisubukan ulit.",
}
_WROTE = {"save_memory": "saved", "update_memory": "updated", "delete_memory": "deleted"}


def outcome(
    tool: str,
    words: str,
    text: str,
    handle: str,
    language: Language,
    *,
    as_said: bool = False,
    member: str = "",
) -> str:
    """One sentence for a tool's answer, by its first word. ``as_said``: see :data:`SAVED_AS_SAID`.

    ``member``: the other member whom the entry is about.
    """
    word = re.split(r"[^a-z_]", words.strip().casefold(), maxsplit=1)[0]
    if as_said and word == _WROTE["save_memory"] and tool == "save_memory":
        return SAVED_AS_SAID[language].format(text=quoted(text))
    if word in _WROTE.values() and tool in _DONE:
        return _DONE[tool][language].format(text=quoted(text), handle=neutral(handle))
    if word == "needs_approval" and member:
        return WAITS_FOR[language].format(name=neutral(member))
    if word == "needs_approval" and "press Approve below" in words:
        return WAITS_FOR_YOU[language]
    if word == "not_allowed" and "private conversation" in words:
        return IN_A_DM[language]
    if word == "too_long":
        limit = re.search(r"\d[\d,.]*(?<=\d)", words)
        most = _AT_MOST[language].format(number=limit[0]) if limit else ""
        return _TOO_LONG[language].format(limit=most)
    return _OUTCOMES.get(word, _FAILED)[language]
