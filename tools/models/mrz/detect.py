# SPDX-License-Identifier: Apache-2.0
"""Train and export the MRZ line finder (a small segmentation net) from rendered pages only.

  python detect.py train --minutes 6 --out DIR ; python detect.py export --ckpt DIR/det.pt --out DIR
"""
import argparse, math, os, random, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from train import Painter, Source, cbr, fbm, gblur, jpeg, KINDS, HERE, to_onnx, fold

PH, PW = 640, 896            # document canvas
S = 640                      # longest side of the network input


class Det(nn.Module):
    """grey [N,1,h,w] in 0..1, h and w multiples of 16 -> MRZ-line probability [N,1,h/4,w/4]"""

    def __init__(self):
        super().__init__()
        self.s2 = cbr(1, 12, 3, 2)
        self.s4 = nn.Sequential(cbr(12, 24, 3, 2), cbr(24, 24, 3))
        self.s8 = nn.Sequential(cbr(24, 48, 3, 2), cbr(48, 48, 3), cbr(48, 48, 3))
        self.s16 = nn.Sequential(cbr(48, 80, 3, 2), cbr(80, 80, 3))
        self.ctx = nn.Sequential(nn.Conv2d(80, 80, (1, 15), 1, (0, 7), groups=80, bias=False), nn.BatchNorm2d(80), nn.Conv2d(80, 80, 1, bias=False),
                                 nn.BatchNorm2d(80), nn.ReLU(inplace=True), nn.Conv2d(80, 80, 7, 1, 3, groups=80, bias=False), nn.BatchNorm2d(80),
                                 nn.Conv2d(80, 48, 1, bias=False), nn.BatchNorm2d(48), nn.ReLU(inplace=True))
        self.l8 = nn.Conv2d(48, 48, 1)
        self.u8 = nn.Sequential(cbr(48, 24, 3))
        self.l4 = nn.Conv2d(24, 24, 1)
        self.head = nn.Sequential(cbr(24, 24, 3), nn.Conv2d(24, 1, 1))

    def logits(self, x):
        m = x.mean((2, 3), keepdim=True)
        x = x - m
        x = x / ((x * x).mean((2, 3), keepdim=True).sqrt() + .01)
        a = self.s4(self.s2(x))
        b = self.s8(a)
        c = self.ctx(self.s16(b))
        c = self.u8(F.interpolate(c, scale_factor=2.0, mode="nearest") + self.l8(b))
        c = F.interpolate(c, scale_factor=2.0, mode="nearest") + self.l4(a)
        return self.head(c)

    def forward(self, x):
        return torch.sigmoid(self.logits(x))


class Pages:
    def __init__(self, dev, seed):
        self.p, self.src, self.dev = Painter(dev), Source(dev, seed, 16000), dev
        self.strips = torch.from_numpy(np.load(os.path.join(HERE, "strips.npz"))["strips"]).float().to(dev)[:, None] / 255

    @torch.no_grad()
    def batch(self, B, h, w):
        dev, R = self.dev, random
        n = R.choice((30, 36, 44, 44))
        nl = 3 if n == 30 else 2
        Z = {k: torch.rand(B * nl, device=dev) * .5 for k in KINDS}
        ink = self.p.row(self.src.take(B * nl, n, .2), Z).view(B, nl, 48, n * 32)
        page = torch.rand(B, 1, 1, 1, device=dev) * .3 + .65 + .05 * fbm(B, PH, PW, dev, 1.0, 3) * torch.rand(B, 1, 1, 1, device=dev)
        yy, xx = torch.meshgrid(torch.arange(PH, device=dev).float(), torch.arange(PW, device=dev).float(), indexing="ij")
        U = lambda a, b: torch.empty(B, 1, 1, 1, device=dev).uniform_(a, b)
        for _ in range(2):
            s = torch.sin(xx * U(-.3, .3) + yy * U(-.3, .3) + U(0, 4) * torch.sin(xx * U(.005, .06) + yy * U(.005, .06)))
            page = page - U(-.1, .14).clamp(min=0) * (s * .5 + .5)
        mask = torch.zeros(B, 1, PH, PW, device=dev)
        k = len(self.strips)
        for i in range(B):
            dark = R.uniform(.45, .95)
            has = R.random() < .9
            tw = int(PW * R.uniform(.72, .97))
            if n == 30 and R.random() < .5:
                tw = int(PW * R.uniform(.6, .95))
            pitch = tw / n
            cap = pitch * R.uniform(.9, 1.08)
            gh = max(8, int(cap * 1.5))
            gap = pitch * R.uniform(1.75, 2.7)
            y1 = PH - R.uniform(.3, 2.2) * cap - cap
            if R.random() < .2:
                y1 = R.uniform(PH * .3, PH - 2 * cap)
            x0 = int(max(1, min(PW - tw - 1, (PW - tw) * R.uniform(.2, .8))))
            zone = y1 - (nl - 1) * gap - cap if has else PH
            # photo and panels
            for _ in range(R.randint(0, 2)):
                ph, pw = R.randint(60, 300), R.randint(60, 240)
                a, b = R.randint(0, PH - ph - 1), R.randint(0, PW - pw - 1)
                page[i, 0, a:a + ph, b:b + pw] = (R.uniform(.2, .8) + .25 * fbm(1, ph, pw, dev, R.choice((1, 4)), 3)[0, 0]).clamp(0, 1)
            if R.random() < .25:       # barcode
                ph, pw = R.randint(15, 60), R.randint(120, 500)
                a, b = R.randint(0, PH - ph - 1), R.randint(0, PW - pw - 1)
                bars = (torch.rand(1, pw // 3, device=dev) < .5).float().repeat_interleave(3, 1)
                page[i, 0, a:a + ph, b:b + bars.shape[1]] = .15 + .8 * bars
            for _ in range(R.randint(3, 16)):
                sh = R.randint(9, 34)
                sw = int(400 * sh / 36 * R.uniform(.8, 1.5))
                a = R.randint(0, PH - sh - 1)
                if has and zone - sh < a < y1 + cap + 4:
                    if R.random() < .6 or zone - sh < 2:
                        continue
                    a = int(max(0, zone - sh - R.randint(0, int(cap))))
                b = R.randint(0, max(1, PW - sw // 2))
                t = F.interpolate(self.strips[R.randrange(k)][None], (sh, sw), mode="bilinear", antialias=True)[0, 0][:, :PW - b]
                page[i, 0, a:a + sh, b:b + t.shape[1]] *= 1 - R.uniform(.3, .95) * t
            if not has:
                continue
            if R.random() < .4:        # clear zone under the MRZ
                a = int(max(0, zone - cap * .6))
                page[i, 0, a:] = page[i, 0, a:] * .3 + .7 * R.uniform(.8, 1)
            for j in range(nl):
                yc = y1 - (nl - 1 - j) * gap
                a = int(yc - gh / 2)
                if a < 0 or a + gh > PH:
                    continue
                t = F.interpolate(ink[i, j][None, None], (gh, tw), mode="bilinear", antialias=True)[0, 0]
                page[i, 0, a:a + gh, x0:x0 + tw] *= 1 - dark * t
                m = max(2, int(round(cap)))
                b = int(round(yc - m / 2))
                mask[i, 0, max(0, b):b + m, x0:x0 + tw] = 1
        # camera: document quad into the frame
        asp = R.uniform(.85, 1.15)
        fill = torch.empty(B, device=dev).uniform_(.55, 1.12)
        rot = torch.randn(B, device=dev).clamp(-2.5, 2.5) * math.radians(5)
        flip = torch.where(torch.rand(B, device=dev) < .1, -1., 1.)
        v, u = torch.meshgrid(torch.linspace(-1, 1, h, device=dev) * h / w, torch.linspace(-1, 1, w, device=dev), indexing="ij")
        u, v = u[None].repeat(B, 1, 1), v[None].repeat(B, 1, 1)
        r = lambda s: (torch.rand(B, device=dev) * 2 - 1)[:, None, None] * s
        u, v = u + r(.08), v + r(.08)
        den = 1 + r(.16) * u + r(.16) * v
        u, v = u / den, v / den
        c, s_ = (rot.cos() * flip)[:, None, None], (rot.sin() * flip)[:, None, None]
        X = (u * c - v * s_) / fill[:, None, None]
        Y = (u * s_ + v * c) / fill[:, None, None] * PW / PH * asp
        Y = Y + r(.03) * X * X
        g = torch.stack([X, Y], -1)
        both = F.grid_sample(torch.cat([page.clamp(0, 1), mask, torch.ones_like(mask)], 1), g, align_corners=False)
        table = (U(.05, .9) + .2 * U(0, 1) * fbm(B, h, w, dev, R.choice((.7, 3, 10)), 3)).clamp(0, 1)
        al = both[:, 2:]
        img = both[:, :1] + table * (1 - al)
        gx = torch.linspace(-1, 1, w, device=dev)[None, None, None]
        img = img * (1 + .5 * U(-1, 1) * gx * (U(0, 1) < .4) + .2 * fbm(B, h, w, dev, .2, 1) * (U(0, 1) < .4)).clamp(.2, 1.4)
        for _ in range(2):
            cx, cy, rr = U(-1, 1), U(-1, 1), U(.03, .25)
            gy = torch.linspace(-1, 1, h, device=dev)[None, None, :, None]
            spot = torch.exp(-.5 * ((gx - cx) ** 2 + (gy - cy) ** 2) / rr ** 2)
            img = img + (1 - img) * spot * U(0, .9) * (U(0, 1) < .2)
        img = img * torch.where(U(0, 1) < .3, U(.2, .8), torch.ones_like(U(0, 1)))
        sb = torch.empty(B, device=dev).uniform_(.1, 1.0) + (torch.rand(B, device=dev) < .2) * torch.rand(B, device=dev) * 1.2
        img = gblur(img.clamp(0, 1), sb, sb, 13)
        img = img + torch.randn_like(img) * U(0, .05) * (U(0, 1) < .6)
        img = jpeg(img.clamp(0, 1), torch.empty(B, device=dev).uniform_(25, 95))
        return img, F.avg_pool2d(both[:, 1:2], 4)


SIZES = [(448, 640), (480, 640), (640, 480), (640, 640), (400, 640)]


def train(a):
    dev = torch.device("cuda")
    random.seed(3); torch.manual_seed(3)
    pg = Pages(dev, 3)
    m = Det().to(dev).to(memory_format=torch.channels_last)
    print("det params", sum(p.numel() for p in m.parameters()), flush=True)
    opt = torch.optim.AdamW(m.parameters(), lr=2e-3, weight_decay=.01)
    t0 = time.time(); end = t0 + a.minutes * 60
    step = 0
    ema = {k: v.clone() for k, v in m.state_dict().items()}
    run = []
    while time.time() < end:
        fr = (time.time() - t0) / (end - t0)
        for g in opt.param_groups:
            g["lr"] = 1e-5 + 2e-3 * .5 * (1 + math.cos(math.pi * fr)) * min(1, (step + 1) / 200)
        x, y = pg.batch(24, *random.choice(SIZES))
        with torch.autocast("cuda", torch.bfloat16):
            z = m.logits(x.contiguous(memory_format=torch.channels_last))
        z = z.float()
        p = torch.sigmoid(z)
        dice = 1 - (2 * (p * y).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)
        loss = F.binary_cross_entropy_with_logits(z, y, pos_weight=torch.tensor(2.0, device=dev)) + dice.mean()
        opt.zero_grad(set_to_none=True); loss.backward()
        nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        opt.step()
        with torch.no_grad():
            d = min(.998, (step + 1) / (step + 20))
            for k, v in m.state_dict().items():
                ema[k].lerp_(v, 1 - d) if v.is_floating_point() else ema[k].copy_(v)
        step += 1
        if step % 50 == 0:
            run.append(loss.item())
        if step % 100 == 0:
            pg.p.refresh()
        if step % 200 == 0:
            b = p > .5
            t = y > .5
            print("det step %d loss %.4f iou %.4f %.0f s" % (step, loss.item(), ((b & t).sum() / (b | t).sum().clamp(min=1)).item(), time.time() - t0), flush=True)
            torch.save(ema, os.path.join(a.out, "det.pt"))
    torch.save(ema, os.path.join(a.out, "det.pt"))


def export(a):
    import onnxruntime as ort
    m = Det().eval()
    m.load_state_dict(torch.load(a.ckpt, map_location="cpu"))
    path = os.path.join(a.out, "mrz-lines.onnx")
    x = torch.rand(1, 1, 448, 640)
    with torch.no_grad():
        r = m(x)
    to_onnx(fold(m), x, path, "image", "lines", {"image": {0: "n", 2: "h", 3: "w"}, "lines": {0: "n", 2: "h4", 3: "w4"}})
    s = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    o = s.run(None, {"image": x.numpy()})[0]
    o2 = s.run(None, {"image": np.random.rand(1, 1, 640, 480).astype(np.float32)})[0]
    print("det onnx", os.path.getsize(path), "max diff", np.abs(o - r.numpy()).max(), o2.shape, flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("cmd"); p.add_argument("--minutes", type=float, default=6); p.add_argument("--out", default="out"); p.add_argument("--ckpt")
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    {"train": train, "export": export}[a.cmd](a)
