# SPDX-License-Identifier: Apache-2.0
"""Train, evaluate and export the MRZ line recogniser from rendered data only.

  python train.py train  --minutes 9 --out DIR [--resume DIR/rec.pt]
  python train.py eval   --ckpt rec.pt --out DIR
  python train.py documents --ckpt rec.pt --out DIR
  python train.py export --ckpt rec.pt --out DIR

Needs torch (one CUDA GPU), numpy, onnx; glyphs.npz from render_glyphs.py beside this file. Everything is drawn on the GPU.
"""
import argparse, json, math, os, random, time
from concurrent.futures import ProcessPoolExecutor
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import mrzgen

HERE = os.path.dirname(os.path.abspath(__file__))
CHARS = mrzgen.CHARS                      # class i+1 = CHARS[i]; class 0 = CTC blank
NC = len(CHARS) + 1
H = 32                                    # network input height
KINDS = ["geometry", "jitter", "weight", "fade", "bleed", "blur", "motion", "lowres", "jpeg", "noise", "light", "glare",
         "dark", "contrast", "background", "lines", "neighbours", "crop", "moire"]
PROB = dict(geometry=.8, jitter=.5, weight=.6, fade=.35, bleed=.25, blur=.5, motion=.25, lowres=.6, jpeg=.6, noise=.5,
            light=.4, glare=.25, dark=.25, contrast=.35, background=.6, lines=.25, neighbours=.5, crop=.6, moire=.2)


# ------------------------------------------------------------------ model
def cbr(i, o, k, s=1, p=None):
    p = p if p is not None else (k // 2 if isinstance(k, int) else tuple(a // 2 for a in k))
    return nn.Sequential(nn.Conv2d(i, o, k, s, p, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Res(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = cbr(c, c, 3)
        self.b = nn.Sequential(nn.Conv2d(c, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c))

    def forward(self, x):
        return F.relu(x + self.b(self.a(x)))


class Seq(nn.Module):
    def __init__(self, c, m, d):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(c, c, (1, 9), 1, (0, 4 * d), dilation=(1, d), groups=c, bias=False), nn.BatchNorm2d(c),
                               nn.Conv2d(c, m, 1, bias=False), nn.BatchNorm2d(m), nn.ReLU(inplace=True),
                               nn.Conv2d(m, c, 1, bias=False), nn.BatchNorm2d(c))

    def forward(self, x):
        return F.relu(x + self.f(x))


class Rec(nn.Module):
    """grey [N,1,32,W] in 0..1 -> log-probabilities [N, W/4, 38]"""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            cbr(1, 32, 3, 2), cbr(32, 32, 3),                       # 16 x W/2
            cbr(32, 64, 3, 2), Res(64),                             # 8 x W/4
            cbr(64, 96, 3, (2, 1)), cbr(96, 96, 3),                 # 4 x W/4
            nn.Conv2d(96, 128, (4, 1), bias=False), nn.BatchNorm2d(128), nn.ReLU(inplace=True),
            Seq(128, 192, 1), Seq(128, 192, 2), nn.Conv2d(128, NC, 1))

    def forward(self, x):
        m = x.mean((2, 3), keepdim=True)
        x = x - m
        s = (x * x).mean((2, 3), keepdim=True).sqrt()
        x = x / (s + 0.01)
        y = self.net(x)                                             # N,38,1,T
        return F.log_softmax(y.squeeze(2).permute(0, 2, 1).float(), 2)


# ------------------------------------------------------------------ drawing on the GPU
def gauss1d(sig, k):
    t = torch.arange(k, device=sig.device, dtype=torch.float32) - k // 2
    w = torch.exp(-0.5 * (t[None] / sig[:, None].clamp(min=0.05)) ** 2)
    return w / w.sum(1, keepdim=True)


def gblur(x, sx, sy, k=21):
    """per-sample gaussian blur of x [B,1,h,w]"""
    B, _, h, w = x.shape
    y = x.reshape(1, B, h, w)
    y = F.conv2d(F.pad(y, (k // 2, k // 2, 0, 0), mode="replicate"), gauss1d(sx, k)[:, None, None, :], groups=B)
    y = F.conv2d(F.pad(y, (0, 0, k // 2, k // 2), mode="replicate"), gauss1d(sy, k)[:, None, :, None], groups=B)
    return y.reshape(B, 1, h, w)


_D = None


def dct_mat(dev):
    global _D
    if _D is None or _D.device != dev:
        i = torch.arange(8, dtype=torch.float32)
        m = torch.cos((2 * i[None] + 1) * i[:, None] * math.pi / 16) * 0.5
        m[0] = math.sqrt(1 / 8)
        _D = m.to(dev)
    return _D


QT = torch.tensor([16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
                   87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
                   72, 92, 95, 98, 112, 100, 103, 99], dtype=torch.float32).view(8, 8)


def jpeg(x, q):
    """luminance JPEG of x [B,1,h,w] in 0..1 at per-sample quality q, random block phase"""
    B, _, h, w = x.shape
    oy, ox = random.randrange(8), random.randrange(8)
    ph, pw = (-(h + oy)) % 8, (-(w + ox)) % 8
    y = F.pad(x, (ox, pw, oy, ph), mode="replicate")
    hh, ww = y.shape[2] // 8, y.shape[3] // 8
    b = (y * 255 - 128).view(B, hh, 8, ww, 8).permute(0, 1, 3, 2, 4)
    D = dct_mat(x.device)
    s = torch.where(q < 50, 5000 / q, 200 - 2 * q)
    qt = ((QT.to(x.device)[None] * s[:, None, None] + 50) / 100).floor().clamp(1, 255)[:, None, None]
    c = D @ b @ D.T
    c = torch.round(c / qt) * qt
    b = D.T @ c @ D
    y = ((b.permute(0, 1, 3, 2, 4).reshape(B, 1, hh * 8, ww * 8) + 128) / 255).clamp(0, 1)
    return y[:, :, oy:oy + h, ox:ox + w]


def fbm(B, h, w, dev, cells, octaves=3):
    """smooth noise, about unit variance"""
    out = 0
    amp, tot = 1.0, 0.0
    for o in range(octaves):
        ch, cw = max(2, int(h * cells / 32)), max(2, int(w * cells / 32))
        ch, cw = min(ch, h), min(cw, w)
        out = out + amp * F.interpolate(torch.randn(B, 1, ch, cw, device=dev), (h, w), mode="bicubic", align_corners=False)
        tot += amp * amp
        amp *= 0.6
        cells *= 2.1
    return out / math.sqrt(tot) * 1.4


class Painter:
    GH, GW, PX, CV = 48, 32, 32, 160     # glyph cell (cap 32, pitch 32), canvas height; main line's cap centre at CV/2

    def __init__(self, dev):
        z = np.load(os.path.join(HERE, "glyphs.npz"))
        g = torch.from_numpy(z["glyphs"]).float().to(dev) / 255     # V,37,144,112 cap 96
        self.master, self.dev = g, dev
        self.refresh()

    def refresh(self, n=48):
        """a fresh bank of n glyph sets: stroke weight, slight redesign (smooth warp, slant, width)"""
        dev = self.dev
        v = torch.randint(0, self.master.shape[0], (n,), device=dev)
        g = self.master[v].view(n * 37, 1, 144, 112)
        wt = torch.empty(n, device=dev).uniform_(-1, 1)
        el = torch.rand(n, device=dev)
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, 144, device=dev), torch.linspace(-1, 1, 112, device=dev), indexing="ij")
        base = torch.stack([xx, yy], -1)[None].repeat(n * 37, 1, 1, 1)
        d = F.interpolate(torch.randn(n * 37, 2, 4, 4, device=dev), (144, 112), mode="bicubic", align_corners=True).permute(0, 2, 3, 1)
        amp = (0.035 * el)[:, None].repeat(1, 37)
        amp[:, [CHARS.index(c) for c in "0ODQ"]] *= .4               # do not turn 0 into O
        base = base + d * amp.view(-1)[:, None, None, None]
        sx = (1 + 0.10 * torch.randn(n, device=dev).clamp(-1.5, 1.5) * (torch.rand(n, device=dev) < .5)).repeat_interleave(37)
        base[..., 0] = base[..., 0] * sx[:, None, None]
        g = F.grid_sample(g, base, align_corners=True)
        g = gblur(g, torch.full((n * 37,), 4.0, device=dev), torch.full((n * 37,), 4.0, device=dev), 25)
        thr = (0.5 - 0.30 * wt).repeat_interleave(37)[:, None, None, None]
        g = torch.sigmoid((g - thr) * 14)
        self.bank = F.avg_pool2d(g, 2).view(n, 37, 72, 56)          # cap 48
        self.weight = wt

    def row(self, ids, K, spread=1.0):
        """ids [B,n] class 0..36 (or -1 blank) -> ink [B, GH, n*GW]"""
        B, n = ids.shape
        dev = self.dev
        heavy = K["weight"]
        order = torch.argsort(self.weight.abs())
        pick = (torch.rand(B, device=dev) * (0.25 + 0.75 * heavy) * (len(order) - 1)).long()
        v = order[pick]
        g = self.bank[v[:, None].expand(B, n), ids.clamp(min=0)] * (ids >= 0)[..., None, None]
        g = g.view(B * n, 1, 72, 56)
        j = K["jitter"].repeat_interleave(n)
        r = lambda: torch.randn(B * n, device=dev).clamp(-2, 2)
        rot = r() * j * math.radians(2.0)
        s = (1 + 0.02 * r() * j)
        line_w = (1 + 0.06 * torch.randn(B, device=dev).clamp(-2, 2)).repeat_interleave(n)
        tx, ty = 0.03 * r() * j, 0.02 * r() * j + 0.004 * r()
        th = torch.zeros(B * n, 2, 3, device=dev)
        # output cell spans GW of pitch 32 (= 48 of 56 atlas px) and GH (= 72 of 72 atlas px)
        kx = 48 / 56
        th[:, 0, 0] = torch.cos(rot) * kx / s / line_w
        th[:, 0, 1] = -torch.sin(rot) * 72 / 56
        th[:, 1, 0] = torch.sin(rot) * 48 / 72
        th[:, 1, 1] = torch.cos(rot) / s
        th[:, 0, 2], th[:, 1, 2] = tx, ty
        out = F.grid_sample(g, F.affine_grid(th, (B * n, 1, self.GH, self.GW), align_corners=False), align_corners=False)
        return out.view(B, n, self.GH, self.GW).permute(0, 2, 1, 3).reshape(B, self.GH, n * self.GW)

    @torch.no_grad()
    def lines(self, ids, K, Kb, c0):
        """ids [B,n]; K per-sample strengths; Kb: per-chunk strengths for lowres [nchunk]; c0: final cap height (px of 32) of the batch"""
        dev = self.dev
        B, n = ids.shape
        U = lambda a, b: torch.empty(B, device=dev).uniform_(a, b)
        S = lambda: torch.where(torch.rand(B, device=dev) < .5, -1., 1.)
        MX = 96                                                     # horizontal margin of the canvas
        Wc = n * self.GW + 2 * MX
        ink = torch.zeros(B, self.CV, Wc, device=dev)
        top = self.CV // 2 - self.GH // 2
        ink[:, top:top + self.GH, MX:MX + n * self.GW] = self.row(ids, K)
        # neighbours above and below: other MRZ lines or other print
        nb = K["neighbours"]
        for sgn in (-1, 1):
            m = n + 4
            o = torch.randint(0, 37, (B, m), device=dev)
            fl = torch.rand(B, device=dev) < .3
            o = torch.where(fl[:, None] & (torch.rand(B, m, device=dev) < .6), torch.full_like(o, 36), o)
            o = torch.where((torch.rand(B, m, device=dev) < .1), torch.full_like(o, -1), o)
            use = (nb > 0) & (torch.rand(B, device=dev) < .75)
            o = torch.where(use[:, None], o, torch.full_like(o, -1))
            other = self.row(o, K)
            y0 = top + sgn * int(self.PX * random.uniform(1.4, 2.2))
            a, b = max(0, y0), min(self.CV, y0 + self.GH)
            ox = MX - 2 * self.GW + random.randint(-16, 16)
            xs, xe = max(0, ox), min(Wc, ox + m * self.GW)
            ink[:, a:b, xs:xe] = torch.maximum(ink[:, a:b, xs:xe], other[:, a - y0:b - y0, xs - ox:xe - ox])
        ink = ink[:, None]
        # ink: fade, drop-outs, bleed
        f = K["fade"]
        if (f > 0).any():
            n1 = fbm(B, self.CV, Wc, dev, random.choice((0.5, 1.5, 4)), 2)
            n2 = torch.randn(B, 1, self.CV // 2, Wc // 2, device=dev)
            n2 = F.interpolate(n2, (self.CV, Wc), mode="bilinear", align_corners=False)
            f = f[:, None, None, None]
            fade = 1 - .45 * f + .20 * f * n1 - .25 * f * n2.clamp(min=0)
            ink = ink * fade.clamp(0.12, 1)
        b = K["bleed"]
        if (b > 0).any():
            w = fbm(B, self.CV, Wc, dev, 6, 2)
            soft = gblur(ink, 0.4 + 3.0 * b, 0.4 + 3.0 * b, 17)
            ink = torch.where((b > 0)[:, None, None, None], torch.maximum(ink, ((soft * (1.4 + .3 * w)) - 0.18).clamp(0, 1) * 0.9), ink)
        # geometry
        g = K["geometry"]
        c = c0 * U(.88, 1.12)
        asp = 1 + U(-.10, .10) * (0.3 + 0.7 * g)                     # pitch / cap
        pitch = c * asp
        textw = n * pitch
        cr = K["crop"]
        ml = torch.where(cr > 0, pitch * (U(0.1, 3.2) * cr - 0.05), pitch * U(.4, 1.5))
        mr = torch.where(cr > 0, pitch * (U(0.1, 3.2) * cr - 0.05), pitch * U(.4, 1.5))
        need = float((textw + ml + mr).max())
        W = int(math.ceil(need / 128) * 128)                         # few widths: convolution plans are cached per shape
        free = W - textw
        ml = torch.where(free > ml + mr, ml + (free - ml - mr) * torch.rand(B, device=dev) * (torch.rand(B, device=dev) < .5), ml)
        ss = 2
        v, u = torch.meshgrid((torch.arange(H * ss, device=dev) + .5) / ss, (torch.arange(W * ss, device=dev) + .5) / ss, indexing="ij")
        v, u = v[None], u[None]
        uc = (ml + textw / 2)[:, None, None]
        un = (u - uc) / (textw / 2)[:, None, None]                   # -1..1 along the text
        slack = (H - c) / 2                                          # px free above and below
        lim = (slack - 1.0).clamp(min=0)
        tilt = U(-1, 1) * g * torch.minimum(lim * 0.8, textw / 2 * math.tan(math.radians(1.5)))
        bend = U(-1, 1) * g * torch.minimum((lim - tilt.abs()).clamp(min=0) * 0.8, c * .35)
        off = U(-1, 1) * (lim - tilt.abs() - bend.abs()).clamp(min=0) * (.25 + .75 * cr)
        # cutting into the text edge by up to 6 % of the cap at full crop strength
        off = off + S() * cr * (torch.rand(B, device=dev) < .3) * U(0, 1.3)
        shear = U(-1, 1) * g * math.tan(math.radians(9))
        persp = U(-1, 1) * g * .10
        grow = U(-1, 1) * g * .10
        wav = U(-1, 1) * g * .02
        k4 = lambda t: t[:, None, None]
        yl = (v - H / 2 - k4(off) - k4(tilt) * un - k4(bend) * (un * un * 2 - 1) * .5) / (k4(c) * (1 + k4(grow) * un))
        xl = un + k4(persp) * (un * un - 1) * .5 + k4(wav) * torch.sin(3 * un + k4(U(0, 6.28))) * .3
        xs = MX + n * self.GW / 2 + xl * n * self.GW / 2 + (yl * self.PX) * k4(shear)
        ys = self.CV / 2 + yl * self.PX
        grid = torch.stack([xs / Wc * 2 - 1, ys / self.CV * 2 - 1], -1)
        ink = F.grid_sample(ink, grid, align_corners=False)          # B,1,64,2W
        h2, w2 = H * ss, W * ss
        k5 = lambda t: t[:, None, None, None]
        # paper
        bgK = K["background"]
        paper = U(.72, 1.0)
        bg = k5(paper) + k5(bgK) * .07 * fbm(B, h2, w2, dev, random.choice((.6, 2, 6)), 3)
        if (bgK > 0).any():
            X, Y = xs / self.PX, yl                                   # in caps
            for _ in range(3):
                a = U(0, math.pi)
                fr, fm, am = U(.6, 5.0), U(.1, 1.2), U(0, 2.5)
                ph = U(0, 6.28)
                t = (X * k4(torch.cos(a)) + Y * k4(torch.sin(a)))
                q = (-X * k4(torch.sin(a)) + Y * k4(torch.cos(a)))
                s = torch.sin(6.28 * k4(fr) * .5 * t + k4(am) * torch.sin(k4(fm) * 6.28 * .5 * q + k4(ph)))
                thin = torch.where(k4(torch.rand(B, device=dev) < .5), s, ((s.abs() < k4(U(.1, .5))).float() * 2 - 1))
                bg = bg - k5(bgK * U(0, .13) * (torch.rand(B, device=dev) < .6)) * (thin[:, None] * .5 + .5)
        ln = K["lines"]
        if (ln > 0).any():
            for _ in range(2):
                a = torch.where(torch.rand(B, device=dev) < .6, U(-.05, .05), U(-1.57, 1.57))
                pos = U(-1.0, 1.0)
                d = (yl - k4(pos)) * k4(torch.cos(a)) - (xs / self.PX - n / 2) * k4(torch.sin(a))
                l = (d.abs() < k4(U(.01, .05))).float()
                bg = bg - k5(ln * U(.1, .55) * (torch.rand(B, device=dev) < .7)) * l[:, None]
            # document edge or dark stripe above / below
            e = (torch.rand(B, device=dev) < .3) & (ln > 0)
            sg = S()
            edge = (yl * k4(sg) > k4(U(.62, 1.0)))[:, None]
            bg = torch.where(k5(e.float()).bool() & edge, bg * k5(U(.2, .9)), bg)
        bg = bg.clamp(.05, 1)
        ct = K["contrast"]
        dens = U(.75, 1.0) * (1 - ct * U(.4, .78))                   # ink density
        img = bg * (1 - k5(dens) * ink)
        # light
        li = K["light"]
        if (li > 0).any():
            lo = fbm(B, h2, w2, dev, .25, 1)
            gx = torch.linspace(-1, 1, w2, device=dev)[None, None, None]
            img = img * (1 + k5(li) * (.22 * lo + .40 * k5(U(-1, 1)) * gx)).clamp(.25, 1.3)
            sh = (torch.sin(xs / self.PX * k4(U(.05, .4)) + yl * k4(U(-1, 1)) + k4(U(0, 6.28))) > k4(U(-.5, .9)))[:, None].float()
            img = img * (1 - k5(li * U(0, .45) * (torch.rand(B, device=dev) < .4)) * sh)
        gl = K["glare"]
        if (gl > 0).any():
            for _ in range(2):
                cx, cy = U(-1.1, 1.1), U(-1, 1)
                rx, ry = U(.03, .22), U(.4, 1.8)
                spot = torch.exp(-.5 * (((un - k4(cx)) / k4(rx)) ** 2 + ((yl - k4(cy)) / k4(ry)) ** 2) ** 1.3)[:, None]
                a = k5(gl * U(.3, .88))
                img = img + (1.0 - img) * spot * a
        mo = K["moire"]
        if (mo > 0).any():
            t = u[:, None] * k5(U(-2.2, 2.2)) + v[:, None] * k5(U(-2.2, 2.2))
            t2 = u[:, None] * k5(U(-.5, .5)) + v[:, None] * k5(U(-.5, .5))
            img = img * (1 + k5(mo) * (.10 * torch.sin(t) + .10 * torch.sin(t2)))
        dk = K["dark"]
        gain = 1 - dk * U(.45, .78)
        img = img * k5(gain)
        img = img.clamp(0, 1)
        # optics
        cap2 = c * ss
        sb = (.02 + K["blur"] * U(.4, 1) * .165) * cap2
        ani = torch.exp(U(-.25, .25))
        img = gblur(img, sb * ani, sb / ani, 41)
        mt = K["motion"]
        sel = (mt > 0).nonzero().squeeze(1)
        if len(sel):
            kk = 25
            t = torch.arange(kk, device=dev) - kk // 2
            ky, kx = torch.meshgrid(t, t, indexing="ij")
            a = torch.empty(len(sel), device=dev).uniform_(0, math.pi)
            L = (mt[sel] * torch.empty(len(sel), device=dev).uniform_(.15, .42) * cap2[sel] / 2).clamp(max=12)
            along = kx[None] * a.cos()[:, None, None] + ky[None] * a.sin()[:, None, None]
            across = -kx[None] * a.sin()[:, None, None] + ky[None] * a.cos()[:, None, None]
            ker = ((L[:, None, None] + .5 - along.abs()).clamp(0, 1)) * (1 - across.abs()).clamp(0, 1)
            ker = ker / ker.sum((1, 2), keepdim=True)
            y = img[sel].transpose(0, 1)
            y = F.conv2d(F.pad(y, (kk // 2,) * 4, mode="replicate"), ker[:, None], groups=len(sel))
            img[sel] = y.transpose(0, 1)
        # sensor: chunk by chunk at its own resolution, noise, quantisation, JPEG, back to 32
        out = torch.empty(B, 1, H, W, device=dev)
        nch = len(Kb)
        cs = (B + nch - 1) // nch
        for i in range(nch):
            s = slice(i * cs, min(B, (i + 1) * cs))
            capsrc = 26 * (7.5 / 26) ** float(Kb[i]) if Kb[i] > 0 else random.uniform(18, 34)
            hs = int(round(min(64, max(9, H * capsrc / c0))))
            ws = max(16, int(round(W * hs / H)))
            x = img[s]
            if hs < 64:
                if hs <= 32 and random.random() < .4:
                    x = F.interpolate(x, (hs, ws), mode=random.choice(("area", "bilinear")))
                else:
                    x = F.interpolate(x, (hs, ws), mode="bilinear", align_corners=False, antialias=True)
            b = x.shape[0]
            nz = K["noise"][s]
            sig = (.004 + nz * torch.rand(b, device=dev) * .09 * (0.35 + .65 * gain[s]))
            noise = torch.randn_like(x)
            if random.random() < .4:
                noise = F.avg_pool2d(F.pad(noise, (1, 1, 1, 1), mode="replicate"), 3, 1) * 2.2
            x = x + noise * k5(sig) * (.6 + .5 * x.clamp(0, 1).sqrt())
            sp = torch.rand_like(x)
            pr = k5((nz * .012 * (torch.rand(b, device=dev) < .25)))
            x = torch.where(sp < pr, torch.rand_like(x), x)
            x = (x.clamp(0, 1) * 255).round() / 255
            jq = K["jpeg"][s]
            q = torch.where(jq > 0, 88 - jq * torch.empty(b, device=dev).uniform_(.5, 1) * 66, torch.full((b,), 96., device=dev))
            x = jpeg(x, q)
            if random.random() < .2:                                  # a second save
                x = jpeg(x, torch.empty(b, device=dev).uniform_(60, 92))
            if x.shape[2] != H or x.shape[3] != W:
                up = random.choice(("bilinear", "bilinear", "bicubic"))
                x = F.interpolate(x, (H, W), mode=up, align_corners=False, antialias=True)
            out[s] = x.clamp(0, 1)
        return (out * 255).round() / 255


def strengths(B, dev, sev, only=None, base=.12):
    """per-kind strengths [B]; sev [B]; only=(kind, level) sets one kind and leaves the rest mild"""
    K = {}
    for k in KINDS:
        on = torch.rand(B, device=dev) < PROB[k]
        a = torch.rand(B, device=dev)
        if only is None:
            K[k] = on * sev * a.sqrt()
        else:
            K[k] = on * base * a
            if only[0] == k:
                K[k] = torch.full((B,), float(only[1]), device=dev)
    return K


def chunk_lowres(nch, sev_mean, only=None):
    if only is not None:
        return [float(only[1])] * nch if only[0] == "lowres" else [random.random() * .15 for _ in range(nch)]
    return [(random.random() ** .5) * sev_mean if random.random() < PROB["lowres"] else 0.0 for _ in range(nch)]


class Source:
    def __init__(self, dev, seed, n):
        with ProcessPoolExecutor() as ex:
            parts = list(ex.map(mrzgen.pool, [(seed * 1000 + i, n // 16) for i in range(16)]))
        self.ids = {k: torch.tensor(sum((p[k] for p in parts), []), dtype=torch.long, device=dev) for k in (30, 36, 44)}
        self.dev = dev

    def take(self, B, n, p_random=.25):
        pool = self.ids[n]
        ids = pool[torch.randint(0, len(pool), (B,), device=self.dev)]
        r = torch.rand(B, device=self.dev) < p_random
        rnd = torch.randint(0, 37, (B, n), device=self.dev)
        return torch.where(r[:, None], rnd, ids)


def batch(painter, src, B, sev_max, only=None, n=None, hard=None, nch=8):
    dev = painter.dev
    n = n or random.choice((30, 36, 44, 44))
    ids = src.take(B, n, 0.25 if hard is None else 0.0)
    if hard is None and random.random() < .08:                       # odd lengths
        n = random.randint(6, 43)
        ids = ids[:, :n].contiguous()
    sev = torch.rand(B, device=dev) * sev_max if hard is None else torch.full((B,), hard, device=dev)
    K = strengths(B, dev, sev, only)
    Kb = chunk_lowres(nch, sev_max if hard is None else hard, only)
    c0 = random.uniform(13.5, 24)
    return painter.lines(ids, K, Kb, c0), ids


def greedy(lp):
    p = lp.argmax(2)
    prev = F.pad(p[:, :-1], (1, 0), value=0)
    keep = (p != 0) & (p != prev)
    return [r[k].tolist() for r, k in zip(p.cpu(), keep.cpu())]


def edit(a, b):
    d = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, y in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (x != y))
    return d[-1]


@torch.no_grad()
def measure(model, painter, src, N, B=256, **kw):
    ok = chars = err = tot = 0
    conf = {}
    while tot < N:
        x, ids = batch(painter, src, B, 1.0, **kw)
        with torch.autocast("cuda", torch.bfloat16, enabled=kw.get("amp", False)):
            lp = model(x)
        for h, t in zip(greedy(lp), (ids + 1).tolist()):
            tot += 1
            chars += len(t)
            if h == t:
                ok += 1
                continue
            err += edit(h, t)
            if len(h) == len(t):
                for a, b in zip(t, h):
                    if a != b:
                        k = CHARS[a - 1] + ">" + CHARS[b - 1]
                        conf[k] = conf.get(k, 0) + 1
            else:
                conf["length"] = conf.get("length", 0) + 1
    return dict(lines=tot, line_acc=ok / tot, char_acc=1 - err / chars, confusions=dict(sorted(conf.items(), key=lambda z: -z[1])[:15]))


def train(a):
    dev = torch.device("cuda")
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    t0 = time.time()
    random.seed(a.seed); torch.manual_seed(a.seed)
    painter = Painter(dev)
    src = Source(dev, a.seed, a.pool)
    val = Source(dev, 999, 8000)
    model = Rec().to(dev).to(memory_format=torch.channels_last)
    ema = Rec().to(dev).eval()
    for p in ema.parameters():
        p.requires_grad_(False)
    step0 = 0
    if a.resume:
        ck = torch.load(a.resume, map_location=dev)
        model.load_state_dict(ck["model"]); ema.load_state_dict(ck["ema"]); step0 = ck["step"]
    else:
        ema.load_state_dict(model.state_dict())
    print("params", sum(p.numel() for p in model.parameters()), "setup %.1f s" % (time.time() - t0), flush=True)
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr, weight_decay=.01, betas=(.9, .98))
    if a.resume and "opt" in ck:
        opt.load_state_dict(ck["opt"])
    end = t0 + a.minutes * 60
    step, B, lossm, tlog = 0, a.batch, None, time.time()
    tstart = time.time()
    os.makedirs(a.out, exist_ok=True)
    log = open(os.path.join(a.out, "train.log"), "a")
    teval = time.time()

    def save():
        torch.save(dict(model=model.state_dict(), ema=ema.state_dict(), step=step0 + step, opt=opt.state_dict()), os.path.join(a.out, "rec.pt"))

    while time.time() < end:
        fr = (time.time() - tstart) / (end - tstart)
        lr = a.lr_end + (a.lr - a.lr_end) * .5 * (1 + math.cos(math.pi * min(1, fr)))
        if step < 300:
            lr *= (step + 1) / 300
        for g in opt.param_groups:
            g["lr"] = lr
        sev = 1.0 if a.resume else min(1.0, .15 + step / a.ramp)
        if step % 100 == 99:
            painter.refresh()
        x, ids = batch(painter, src, B, sev)
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.bfloat16):
            lp = model(x)
        T = lp.shape[1]
        n = ids.shape[1]
        loss = F.ctc_loss(lp.transpose(0, 1), ids + 1, torch.full((B,), T, dtype=torch.long, device=dev), torch.full((B,), n, dtype=torch.long, device=dev),
                          blank=0, reduction="none", zero_infinity=True)
        loss = (loss / n).mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        d = min(.9995, (step0 + step + 1) / (step0 + step + 50))
        with torch.no_grad():
            ms, es = model.state_dict(), ema.state_dict()
            fl = [k for k in ms if ms[k].is_floating_point()]
            torch._foreach_lerp_([es[k] for k in fl], [ms[k] for k in fl], 1 - d)
        step += 1
        if step % 200 == 0:
            torch.cuda.synchronize()
            l = "step %d loss %.4f lr %.5f sev %.2f %.1f ms/step" % (step0 + step, loss.item(), lr, sev, (time.time() - tlog) / 200 * 1000)
            tlog = time.time()
            print(l, file=log, flush=True)
            if step % 1000 == 0 or step == 200:
                print(l, flush=True)
        if time.time() - teval > 75 and time.time() < end - 20:
            st = torch.cuda.get_rng_state(), torch.get_rng_state(), random.getstate()
            torch.manual_seed(5); random.seed(5)
            r = {h: measure(ema, painter, val, 2048, hard=h) for h in (.6, 1.0)}
            torch.cuda.set_rng_state(st[0]); torch.set_rng_state(st[1]); random.setstate(st[2])
            l = "EVAL step %d " % (step0 + step) + " ".join("hard%.1f line %.4f char %.5f |" % (h, v["line_acc"], v["char_acc"]) for h, v in r.items())
            print(l, flush=True); print(l, file=log, flush=True)
            save()
            teval = tlog = time.time()
    save()
    print("done", step, "steps", flush=True)


def evaluate(a):
    dev = torch.device("cuda")
    painter = Painter(dev)
    torch.manual_seed(77); random.seed(77)
    painter.refresh(96)
    src = Source(dev, 4242, 16000)
    model = Rec().to(dev).eval()
    model.load_state_dict(torch.load(a.ckpt, map_location=dev)["ema"])
    res = {}
    for h in (.3, .6, .8, 1.0):
        res["mixed %.1f" % h] = measure(model, painter, src, 10000 if h >= .6 else 4096, hard=h)
        print("mixed", h, res["mixed %.1f" % h], flush=True)
    for k in KINDS:
        for lv in (.33, .66, 1.0):
            res["%s %.2f" % (k, lv)] = measure(model, painter, src, 2048, hard=0.0, only=(k, lv))
        print("%-11s" % k, " ".join("%.4f/%.5f" % (res["%s %.2f" % (k, lv)]["line_acc"], res["%s %.2f" % (k, lv)]["char_acc"]) for lv in (.33, .66, 1.0)), flush=True)
    os.makedirs(a.out, exist_ok=True)
    json.dump(res, open(os.path.join(a.out, "eval.json"), "w"), indent=1)


def _decode(job):
    import mrz_decode
    truth, lps, h = job
    r = mrz_decode.decode(lps)
    return (r["raw"] == truth, r["lines"] == truth, r["status"], r["confidence"]) if r else (False, False, None, 0.0)


@torch.no_grad()
def documents(a):
    """whole documents: what the structure decoder adds, and whether it leaves really wrong check digits alone"""
    dev = torch.device("cuda")
    r = random.Random(8)
    torch.manual_seed(78); random.seed(78)
    painter = Painter(dev)
    model = Rec().to(dev).eval()
    model.load_state_dict(torch.load(a.ckpt, map_location=dev)["ema"])
    out = {}
    for name, sev, wrong in (("mixed 0.3", .3, False), ("mixed 0.6", .6, False), ("mixed 0.8", .8, False), ("altered digit, mixed 0.3", .3, True)):
        jobs, g_ok, l_ok, l_n = [], [], 0, 0
        for fmt in ("TD1", "TD2", "TD3", "TD3"):
            for _ in range(2):
                docs = [mrzgen.document(r, fmt)[1] for _ in range(64)]
                if wrong:                                          # change one digit of the document number or a date in line 2 (1 for TD1)
                    for d in docs:
                        k = 0 if fmt == "TD1" else 1
                        js = [j for j in (range(5, 14) if fmt == "TD1" else list(range(0, 9)) + list(range(13, 19))) if d[k][j].isdigit()]
                        j = r.choice(js) if js else (14 if fmt == "TD1" else 9)
                        d[k] = d[k][:j] + str((int(d[k][j]) + r.randint(1, 9)) % 10) + d[k][j + 1:]
                n = len(docs[0][0])
                lps, gs = [], []
                for li in range(len(docs[0])):
                    ids = torch.tensor([[CHARS.index(c) for c in d[li]] for d in docs], device=dev)
                    K = strengths(64, dev, torch.full((64,), sev, device=dev))
                    x = painter.lines(ids, K, chunk_lowres(8, sev), random.uniform(13.5, 24))
                    lp = model(x)
                    gs.append(["".join(CHARS[c - 1] for c in q) for q in greedy(lp)])
                    lps.append(lp.double().cpu().tolist())
                for i, d in enumerate(docs):
                    jobs.append((d, [q[i] for q in lps], 0))
                    g = [q[i] for q in gs]
                    g_ok.append(g == d)
                    l_ok += sum(p == q for p, q in zip(g, d)); l_n += len(d)
        with ProcessPoolExecutor(16) as ex:
            res = list(ex.map(_decode, jobs, chunksize=8))
        N = len(res)
        st = {}
        for x in res:
            st.setdefault(str(x[2]), [0, 0]); st[str(x[2])][0] += 1; st[str(x[2])][1] += x[1]
        sure = [x for x in res if x[3] > .98]
        out[name] = dict(documents=N, greedy_line=l_ok / l_n, greedy_doc=sum(g_ok) / N, length_doc=sum(x[0] for x in res) / N, decoded_doc=sum(x[1] for x in res) / N,
                         status=st, sure=len(sure), sure_right=sum(x[1] for x in sure))
        print(name, json.dumps(out[name]), flush=True)
    json.dump(out, open(os.path.join(a.out, "documents.json"), "w"), indent=1)


def fold(model):
    """fold batch norms into the convolutions before them"""
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    def walk(m):
        if isinstance(m, nn.Sequential):
            i = 0
            ks = list(m._modules)
            for p, q in zip(ks, ks[1:]):
                if isinstance(m._modules[p], nn.Conv2d) and isinstance(m._modules[q], nn.BatchNorm2d):
                    m._modules[p] = fuse_conv_bn_eval(m._modules[p], m._modules[q])
                    m._modules[q] = nn.Identity()
        for c in m.children():
            walk(c)
    walk(model)
    return model


def to_onnx(model, x, path, inp, out, axes):
    import onnx
    from onnx import numpy_helper, helper, TensorProto
    torch.onnx.export(model, x, path, input_names=[inp], output_names=[out], dynamic_axes=axes, opset_version=17, dynamo=False)
    m = onnx.load(path)
    # store weights as fp16, cast back to fp32 (the runtime folds the casts when it loads the model): half the size, same speed
    new, nodes = [], []
    for t in m.graph.initializer:
        w = numpy_helper.to_array(t)
        if w.dtype == np.float32 and w.size > 64:
            new.append(numpy_helper.from_array(w.astype(np.float16), t.name + "_h"))
            nodes.append(helper.make_node("Cast", [t.name + "_h"], [t.name], to=TensorProto.FLOAT))
        else:
            new.append(t)
    del m.graph.initializer[:]
    m.graph.initializer.extend(new)
    old = list(m.graph.node)
    del m.graph.node[:]
    m.graph.node.extend(nodes + old)
    m.producer_name, m.doc_string = "mrz", ""
    for nd in m.graph.node:
        nd.doc_string = ""
    onnx.checker.check_model(m)
    onnx.save(m, path)


def export(a):
    import onnxruntime as ort
    os.makedirs(a.out, exist_ok=True)
    model = Rec().eval()
    model.load_state_dict(torch.load(a.ckpt, map_location="cpu")["ema"])
    ref = model
    import copy
    m = fold(copy.deepcopy(model))
    path = os.path.join(a.out, "mrz.onnx")
    x = torch.rand(1, 1, 32, 640)
    to_onnx(m, x, path, "image", "logprobs", {"image": {0: "n", 3: "w"}, "logprobs": {0: "n", 1: "t"}})
    s = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    dev = torch.device("cuda")
    painter = Painter(dev)
    src = Source(dev, 31337, 1600)
    same = tot = 0
    worst = 0
    for i in range(8):
        x, ids = batch(painter, src, 64, 1.0, hard=.8)
        with torch.no_grad():
            r = ref(x.cpu())
        o = torch.from_numpy(s.run(None, {"image": x.cpu().numpy()})[0])
        worst = max(worst, float((r.exp() - o.exp()).abs().max()))
        same += sum(p == q for p, q in zip(greedy(r), greedy(o)))
        tot += 64
    print("onnx", os.path.getsize(path), "bytes; same reading torch/onnx", same, "of", tot, "max |dp|", worst, flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("cmd")
    p.add_argument("--minutes", type=float, default=9)
    p.add_argument("--out", default="out")
    p.add_argument("--resume")
    p.add_argument("--ckpt")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--pool", type=int, default=320000)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--lr_end", type=float, default=2e-5)
    p.add_argument("--ramp", type=float, default=2500)
    a = p.parse_args()
    {"train": train, "eval": evaluate, "export": export, "documents": documents}[a.cmd](a)
