# SPDX-License-Identifier: Apache-2.0
"""Render strips of ordinary print (no OCR-B) used as distractors when training the line finder.

usage: render_strips.py OUT.npz FONT [FONT ...]
"""
import random, sys
import numpy as np
from PIL import Image, ImageDraw, ImageFont

WORDS = ("PASSPORT PASSEPORT Republic of the Surname Given names Nationality Date of birth Sex Place of issue Authority Signature "
         "Holder Type Code Country REPUBLIQUE IDENTITY CARD National Expiry Number No. Ministry Interior Home Affairs Height Eyes "
         "Lagos Nairobi Accra Dakar Pretoria Abidjan Kigali Tunis Cairo 01 JAN 1990 12 MAR 2031 A1234567 B00984412 M F").split()
r = random.Random(4)
out = []
for i in range(360):
    f = ImageFont.truetype(r.choice(sys.argv[2:]), 24)
    k = r.random()
    if k < .75:
        t = " ".join(r.choice(WORDS) for _ in range(r.randint(1, 5)))
    elif k < .9:
        t = "".join(r.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789  ") for _ in range(r.randint(4, 26)))
    else:
        t = "".join(r.choice("abcdefghijklmnopqrstuvwxyz ,.-") for _ in range(r.randint(4, 30)))
    im = Image.new("L", (400, 36), 0)
    ImageDraw.Draw(im).text((3, 27), t, font=f, fill=255, anchor="ls")
    out.append(np.asarray(im))
np.savez_compressed(sys.argv[1], strips=np.stack(out))
