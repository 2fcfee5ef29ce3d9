from __future__ import annotations

import io

import pytest
from PIL import Image

from memory.personas import pictures
from memory.personas.cards import SIGNATURE
from memory.personas.rules import PersonaRefused

from .samples import chunk, picture


def opened(png: bytes) -> Image.Image:
    made = Image.open(io.BytesIO(png))
    made.load()
    return made


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_each_kind_of_picture_becomes_a_small_png(form: str) -> None:
    made = opened(pictures.avatar(picture(1_600, 800, form)))
    assert (made.format, made.size) == ("PNG", (512, 256))


def test_a_small_picture_is_not_blown_up() -> None:
    assert opened(pictures.avatar(picture(10, 20))).size == (10, 20)


def test_a_moving_picture_gives_its_first_frame() -> None:
    out = io.BytesIO()
    frames = [Image.new("RGB", (8, 8), colour) for colour in ((255, 0, 0), (0, 0, 255))]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    made = opened(pictures.avatar(out.getvalue()))
    assert getattr(made, "n_frames", 1) == 1
    assert made.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


def test_what_else_was_in_the_file_is_left_behind() -> None:
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x010E] = "where I live"
    exif[0x0112] = 6
    Image.new("RGB", (40, 20)).save(out, "JPEG", exif=exif)
    made = pictures.avatar(out.getvalue())
    assert b"where I live" not in made
    assert opened(made).size == (20, 40)  # turned upright


BOMB = SIGNATURE + chunk(b"IHDR", b"\x00\x00\x40\x00" * 2 + b"\x08\x02\x00\x00\x00") + chunk(b"IDAT", b"x")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "can't read that as a picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "can't read"),
        (b"%PDF-1.7", "can't read"),
        (picture(form="BMP"), "can't read"),
        (picture(400, 400)[:-40], "can't read"),
        (picture(400, 400, "JPEG")[:300], "can't read"),
        (BOMB, "pixels"),
        (picture(5_001, 5_000, "GIF"), "5,001 × 5,000 pixels; 25,000,000 in all"),
        (b"\x00" * 10_000_001, "MB are allowed"),
    ],
    ids=range(9),
)
def test_what_is_no_picture_or_too_large_a_one_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(PersonaRefused, match=why):
        pictures.avatar(data)
