"""What counts as an explicit request, in three languages (SPEC §4.4)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.phrases import Language, Request, asks_to_change, asks_to_forget, asks_to_remember, guess_language
from memory.phrases.lists import OPENING

ENGLISH = [
    ("remember that I'm allergic to peanuts", "I'm allergic to peanuts"),
    ("Remember that I'm allergic to peanuts.", "I'm allergic to peanuts"),
    ("please remember my birthday is May 3", "my birthday is May 3"),
    ("Keepsake, remember that the raid is on Friday", "the raid is on Friday"),
    ("@Keepsake please remember that my cat is called Miso!", "my cat is called Miso"),
    ("@Keepsake remember I live near the sea", "I live near the sea"),
    ("hey keepsake, can you remember that I hate olives?", "I hate olives"),
    ("could you please remember I'm vegetarian", "I'm vegetarian"),
    ("don't forget that we meet on Monday", "we meet on Monday"),
    ("Don’t forget I'm on UTC+8", "I'm on UTC+8"),
    ("never forget that our guild's name is Moth", "our guild's name is Moth"),
    ("make a note that my exam is on 12 June", "my exam is on 12 June"),
    ("Take note: no spoilers in this server", "no spoilers in this server"),
    ("make a note of my new email rule", "my new email rule"),
    ("note down that I moved to Cebu", "I moved to Cebu"),
    ("keep in mind that I can't hear well", "I can't hear well"),
    ("Bear in mind that I am left-handed", "I am left-handed"),
    ("save this: the wifi is in the kitchen drawer", "the wifi is in the kitchen drawer"),
    ("add to your memory that I play bass", "I play bass"),
    ("memorize that I prefer tea", "I prefer tea"),
    ("i want you to remember that my dog is Bruno", "my dog is Bruno"),
    ("make sure you remember that I'm 17", "I'm 17"),
    ("Hello! Remember that I'm allergic to shellfish. Thanks!", "I'm allergic to shellfish"),
    ("I'm new here, please remember that I go by Al", "I go by Al"),
    ("I'm allergic to nuts, please remember that", "I'm allergic to nuts"),
    ("My name is Jo. Don't forget it!", None),
    ("my sister is called Ana, don't forget it!", "my sister is called Ana"),
    ("remember to always answer in Spanish", "always answer in Spanish"),
    ("remember me as Captain", "me as Captain"),
    ("remember the password hint is 'moth'", "the password hint is 'moth'"),
    ("for future reference: I'm in Manila", "I'm in Manila"),
    ("<@123456> remember that I nap at noon", "I nap at noon"),
    ("@Keepsake Bot remember that I nap at noon", "I nap at noon"),
    ("remember that movie night is on Friday", "movie night is on Friday"),
    ("Remember: movie night is at 8.30 pm", "movie night is at 8.30 pm"),
    ("remember @Ben likes tea", "@Ben likes tea"),
    ("remember <@12> can't hear well", "<@12> can't hear well"),
    ("remember @Ben's birthday is May 3", "@Ben's birthday is May 3"),
    ("hey, could you please remember for me that I sleep late", "I sleep late"),
    ("save for us: the raid is on Friday", "the raid is on Friday"),
    ("note that I am vegetarian", "I am vegetarian"),
    ("remember that I like tea\nand coffee", "I like tea and coffee"),
    ("remember that I like tea.\nAnd coffee.\nHow are you?", "I like tea. And coffee"),
    ("remember that my cats are:\n- Miso\n- Tofu", "my cats are: - Miso - Tofu"),
    ("remember that\nI like tea", "I like tea"),
    ("remember that I like tea\nthanks!", "I like tea"),
    ("remember that I like tea\nwhat's up?", "I like tea"),
    ("remember that I like tea\nremember that I like pie", "I like tea"),
]
ENGLISH_NOT = [
    "do you remember when we met?",
    "@Keepsake I remember that you said so",
    "<@123456> do you remember that I like tea?",
    "do you remember that I like tea?",
    "I can't forget that",
    "I'll never forget that day",
    "I remember that you said so",
    "remember when we were kids?",
    "remember the time we got lost?",
    "Remember that time we got lost lol",
    "what do you remember about me?",
    "did you forget that I'm vegan?",
    "can you remember what I said?",
    "I don't remember that",
    "she asked me to remember that",
    "can you save money on this?",
    "who remembers this game",
    "remembering is hard",
    "remember @Ben",
    "remember @Ben from school lol",
    "I forgot that we had a meeting",
    "it was a night to remember",
    "you never remember my name",
    "remember my birthday?",
    "",
]
SPANISH = [
    ("recuerda que soy alérgico a los cacahuetes", "soy alérgico a los cacahuetes"),
    ("Por favor, recuerda que me llamo Inés", "me llamo Inés"),
    ("Keepsake, recuerda que mi gato se llama Miso", "mi gato se llama Miso"),
    ("¿puedes recordar que no como carne?", "no como carne"),
    ("podrías recordar que vivo en Lima", "vivo en Lima"),
    ("acuérdate de que el lunes hay reunión", "el lunes hay reunión"),
    ("acordate que soy zurda", "soy zurda"),
    ("recordá que no tomo café", "no tomo café"),
    ("no olvides que tengo examen el viernes", "tengo examen el viernes"),
    ("No te olvides de que somos veganos", "somos veganos"),
    ("que no se te olvide que hoy es martes", "hoy es martes"),
    ("apunta que mi cumpleaños es el 3 de mayo", "mi cumpleaños es el 3 de mayo"),
    ("anota: la clave está en la cocina", "la clave está en la cocina"),
    ("anotá que juego de noche", "juego de noche"),
    ("toma nota de que odio el brócoli", "odio el brócoli"),
    ("ten en cuenta que soy sordo", "soy sordo"),
    ("tené en cuenta que trabajo de noche", "trabajo de noche"),
    ("guarda esto: el servidor se llama Polilla", "el servidor se llama Polilla"),
    ("guarda en tu memoria que prefiero té", "prefiero té"),
    ("memoriza que mi perro es Bruno", "mi perro es Bruno"),
    ("quiero que recuerdes que soy de Cádiz", "soy de Cádiz"),
    ("necesito que anotes que me mudé", "me mudé"),
    ("Hola! Recuerda que soy celíaca. Gracias", "soy celíaca"),
    ("Soy alérgica a las nueces, no lo olvides", "soy alérgica a las nueces"),
    ("mi hermana se llama Ana, apúntalo por favor", "mi hermana se llama Ana"),
    ("recuerda mi cumpleaños: 3 de mayo", "mi cumpleaños: 3 de mayo"),
    ("@Keepsake recuerda que nuestro clan es Luna", "nuestro clan es Luna"),
    ("oye, ¿podrías por favor recordar por mí que duermo tarde?", "duermo tarde"),
    ("recuerda que a @Ben le gusta el té", "a @Ben le gusta el té"),
    ("recuerda a @Ben le gusta el té", "a @Ben le gusta el té"),
    ("recuerda que me gusta el té\ny el café", "me gusta el té y el café"),
]
SPANISH_NOT = [
    "¿recuerdas cuando fuimos al mar?",
    "¿recuerdas que te dije algo?",
    "no lo recuerdo",
    "él recuerda que llovía",
    "¿te acuerdas de mí?",
    "no puedo olvidar que te fuiste",
    "yo no olvido",
    "recuerda cuando éramos niños",
    "recuerda a @Ben de la escuela",
    "¿qué recuerdas de mí?",
    "me olvidé de que había examen",
    "un buen recuerdo",
]
FILIPINO = [
    ("tandaan mo na allergic ako sa mani", "allergic ako sa mani"),
    ("Tandaan mong allergic ako sa hipon", "allergic ako sa hipon"),
    ("tandaan mo, birthday ko sa Mayo 3", "birthday ko sa Mayo 3"),
    ("pakitandaan na vegetarian ako", "vegetarian ako"),
    ("paki-tandaan mo na taga-Cebu ako", "taga-Cebu ako"),
    ("please tandaan mo na ayaw ko ng ampalaya", "ayaw ko ng ampalaya"),
    ("Keepsake, tandaan mo na Miso ang pusa ko", "Miso ang pusa ko"),
    ("@Keepsake tandaan mo na may exam ako bukas", "may exam ako bukas"),
    ("huwag mong kalimutan na Lunes ang meeting", "Lunes ang meeting"),
    ("wag mong kalimutan na bawal ang spoiler dito", "bawal ang spoiler dito"),
    ("wag mo kalimutan na ako si Jun", "ako si Jun"),
    ("huwag mong kalimutang kaliwete ako", "kaliwete ako"),
    ("i-save mo na Bruno ang aso ko", "Bruno ang aso ko"),
    ("isave mo na mahilig ako sa tsaa", "mahilig ako sa tsaa"),
    ("paki-save na nasa Maynila na ako", "nasa Maynila na ako"),
    ("i-note mo na gabi ako naglalaro", "gabi ako naglalaro"),
    ("isulat mo na 17 na ako", "17 na ako"),
    ("ilista mo na may allergy ako", "may allergy ako"),
    ("alalahanin mo na bingi ako sa kaliwa", "bingi ako sa kaliwa"),
    ("isaisip mo na pagod ako tuwing Lunes", "pagod ako tuwing Lunes"),
    ("remember mo na hindi ako kumakain ng baboy", "hindi ako kumakain ng baboy"),
    ("ilagay mo sa memory mo na Luna ang clan namin", "Luna ang clan namin"),
    ("pwede mo bang tandaan na nurse ako?", "nurse ako"),
    ("Allergic ako sa mani, tandaan mo yan", "Allergic ako sa mani"),
    ("Ana ang kapatid ko, wag mong kalimutan yan", "Ana ang kapatid ko"),
    ("tandaan mo ang birthday ko: Mayo 3", "ang birthday ko: Mayo 3"),
    ("tandaan: bukas ang raid", "bukas ang raid"),
    ("hoy, pwede mo bang please tandaan para sa akin na nurse ako", "nurse ako"),
    ("tandaan mo si @Ben mahilig sa tsaa", "si @Ben mahilig sa tsaa"),
    ("i-note mo na vegetarian ako\nat bingi", "vegetarian ako at bingi"),
]
FILIPINO_NOT = [
    "naaalala mo ba ako?",
    "naaalala mo ba noong bata pa tayo?",
    "natatandaan mo ba yung sinabi ko?",
    "hindi ko makalimutan iyon",
    "nakalimutan ko na may exam",
    "tandaan mo ba?",
    "di ko matandaan",
    "nakalimutan mo na ba?",
    "may naaalala ako",
]

FORGET = [
    ("forget that I'm allergic to peanuts", "I'm allergic to peanuts", None),
    ("please forget my birthday", "my birthday", None),
    ("forget about movie night", "movie night", None),
    ("forget about my cat", "my cat", None),
    ("Keepsake, forget m12", "m12", "m12"),
    ("delete m7 please", "m7", "m7"),
    ("delete the memory about my exam", "my exam", None),
    ("remove my address from your memory", "my address from your memory", None),
    ("can you forget that I like tea?", "I like tea", None),
    ("don't remember that I moved", "I moved", None),
    ("olvida que soy alérgico", "soy alérgico", None),
    ("por favor olvida mi cumpleaños", "mi cumpleaños", None),
    ("olvídate de que vivo en Lima", "vivo en Lima", None),
    ("olvida lo de mi gato", "mi gato", None),
    ("borra m3", "m3", "m3"),
    ("borra el recuerdo de mi examen", "mi examen", None),
    ("elimina mi edad de tu memoria", "mi edad de tu memoria", None),
    ("kalimutan mo na allergic ako sa mani", "allergic ako sa mani", None),
    ("kalimutan mo na ang birthday ko", "ang birthday ko", None),
    ("kalimutan mong taga-Cebu ako", "taga-Cebu ako", None),
    ("pakikalimutan ang pusa ko", "ang pusa ko", None),
    ("burahin mo m12", "m12", "m12"),
    ("i-delete mo yung edad ko sa memory", "yung edad ko sa memory", None),
    ("delete everything you know about me", "everything you know about me", None),
    ("borra todo lo que sabes de mí", "todo lo que sabes de mí", None),
    ("kalimutan mo lahat", "lahat", None),
    ("burahin mo ang lahat tungkol sa akin", "ang lahat tungkol sa akin", None),
]
FORGET_NOT = [
    "forget it",
    "Forget about it!",
    "don't forget that I'm vegan",
    "I forget things",
    "did you forget my name?",
    "I can't forget that",
    "olvídalo",
    "no olvides que soy vegano",
    "¿olvidas algo?",
    "kalimutan mo na",
    "huwag mong kalimutan na vegan ako",
    "nakalimutan mo ba?",
    "delete the message",
    "remove the channel",
    "delete everything in the channel",
]


@pytest.mark.parametrize(
    ("text", "thing", "language"),
    [
        *((text, thing, Language.EN) for text, thing in ENGLISH),
        *((text, thing, Language.ES) for text, thing in SPANISH),
        *((text, thing, Language.FIL) for text, thing in FILIPINO),
    ],
)
def test_a_request_to_remember_is_recognised_with_its_thing(
    text: str, thing: str | None, language: Language
) -> None:
    found = asks_to_remember(text)
    assert found is not None
    if thing is not None:
        assert found.thing.casefold() == thing.casefold()
    assert found.language is language


@pytest.mark.parametrize("text", [*ENGLISH_NOT, *SPANISH_NOT, *FILIPINO_NOT])
def test_talk_about_memory_is_no_request_to_remember(text: str) -> None:
    assert asks_to_remember(text) is None


@pytest.mark.parametrize(("text", "thing", "handle"), FORGET)
def test_a_request_to_forget_is_recognised_with_its_thing(text: str, thing: str, handle: str | None) -> None:
    found = asks_to_forget(text)
    assert found is not None
    assert (found.thing, found.handle) == (thing, handle)


@pytest.mark.parametrize("text", FORGET_NOT)
def test_an_idiom_is_no_request_to_forget(text: str) -> None:
    assert asks_to_forget(text) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what am I allergic to?", Language.EN),
        ("¿a qué soy alérgico?", Language.ES),
        ("cuál es mi color favorito", Language.ES),
        ("ano ang paborito kong kulay", Language.FIL),
        ("saan ako nakatira", Language.FIL),
        ("12345", Language.EN),
        ("", Language.EN),
    ],
)
def test_the_language_is_guessed_from_small_words(text: str, language: Language) -> None:
    assert guess_language(text) is language


def test_a_request_at_the_end_of_a_long_story_is_still_found() -> None:
    story = "we walked on, and it rained, so we ran. " * 90
    assert asks_to_remember(f"{story}Remember that I hate rain.") == Request("I hate rain", Language.EN)
    assert asks_to_remember(f"{story * 9}\nRemember that I hate rain.") == Request("I hate rain", Language.EN)


LEADS = sorted({*"|".join(OPENING.values()).split("|"), "please", "por favor", "que", "paki", "lang", "mo"})
ASKING = [
    "remember",
    "remember that",
    "remember that time day",
    "make sure you",
    "can you",
    "forget",
    "delete",
]
ASKING += ["change", "change a to", "cambia a", "palitan a ng", "remember @a", "delete all", "note"]
ASKING += [
    "remember that I\nam",
    "x, remember that",
    "no",
    "olvida",
    "borra m1",
    "tandaan mo",
    "kalimutan na",
    "pwede mong",
    "keep",
]
MARKS = [
    "¿",
    "¡",
    ",",
    ";",
    ":",
    ".",
    "!",
    "?",
    "…",
    "-",
    "—",
    "'",
    '"',
    "“",
    "’",
    "`",
    "@",
    "<",
    "<@",
    "\n",
    "na ",
]
NAMES = [
    "@Aa Bb Cc ",
    "<@1> ",
    "Ana, ",
    "Ana Bel: ",
    "@x",
    "a",
    "1",
    "ﷺ",
    "\u0300\u0316",
    "🍎",
    "\u3000",
    "ñ",
]
AFTER = ["", " ", ", ", ". ", "! ", "? ", ": ", " - ", "\n", " and ", " y ", " ¿", "..", "@"]


def _milliseconds(text: str) -> float:
    """Of the slowest public function, without what other processes take; the best of three."""
    slowest = 0.0
    for ask in (asks_to_remember, asks_to_forget, asks_to_change, guess_language):
        best = 1e9
        for _ in range(3):
            began = time.thread_time()
            ask(text)
            best = min(best, (time.thread_time() - began) * 1_000)
            if best < 10:
                break
        slowest = max(slowest, best)
    return slowest


@pytest.mark.parametrize(("length", "most"), [(4_000, 20), (32_000, 50)])
@pytest.mark.parametrize("after", AFTER)
def test_no_run_of_anything_takes_long_to_read(after: str, length: int, most: float) -> None:
    slow = {}
    for word in (*LEADS, *ASKING, *MARKS, *NAMES):
        text = ((word + after) * length)[: length - 1] + "?"
        slow[word] = _milliseconds(text)
    assert {word: taken for word, taken in slow.items() if taken > most} == {}


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from([*LEADS, *ASKING, *MARKS, *NAMES, *AFTER]), min_size=1, max_size=12),
    st.sampled_from(["", " ", ", "]),
    st.sampled_from([(4_000, 20), (32_000, 50)]),
    st.text(max_size=20),
)
def test_no_mixture_takes_long_to_read(
    parts: list[str], between: str, size: tuple[int, float], wild: str
) -> None:
    length, most = size
    text = (between.join([*parts, wild, ""]) * length)[:length]
    assert _milliseconds(text) < most
