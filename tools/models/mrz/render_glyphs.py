# SPDX-License-Identifier: Apache-2.0
"""Render OCR-B glyph masters (grey, high resolution) for the training generator.

usage: render_glyphs.py OUT.npz FONT.otf [FONT.otf ...]
Every glyph gets the same cell: one advance wide (10 characters per inch pitch), baseline aligned.
"""
import sys
import numpy as np
from PIL import Image, ImageDraw, ImageFont

CHARS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<"
CAP = 96          # cap height of the masters in px


def main():
    out, fonts = sys.argv[1], sys.argv[2:]
    masters = []
    for path in fonts:
        size = 100
        f = ImageFont.truetype(path, 1000)
        x0, y0, x1, y1 = f.getbbox("H", anchor="ls")
        size = round(1000 * CAP / (y1 - y0))
        f = ImageFont.truetype(path, size)
        adv = f.getlength("0")
        x0, y0, x1, y1 = f.getbbox("H", anchor="ls")
        cellw = 112
        cellh = 144                       # cap 96, 24 above, 24 below
        row = []
        for ch in CHARS:
            im = Image.new("L", (cellw * 4, cellh * 4), 0)
            f4 = ImageFont.truetype(path, size * 4)
            d = ImageDraw.Draw(im)
            a4 = f4.getlength(ch)
            d.text(((cellw * 4 - a4) / 2, (24 + CAP) * 4), ch, font=f4, fill=255, anchor="ls")
            row.append(np.asarray(im.resize((cellw, cellh), Image.BOX)))
        masters.append(np.stack(row))
        print(path, "size", size, "advance", adv, "advance/cap", adv / CAP, "H", (x0, y0, x1, y1))
    np.savez_compressed(out, glyphs=np.stack(masters), chars=CHARS, cap=CAP)


main()
