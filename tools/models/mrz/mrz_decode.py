# SPDX-License-Identifier: Apache-2.0
"""Reference decoder: CTC log-probabilities of 2 or 3 MRZ lines -> most probable MRZ under the ICAO 9303 structure.

Exact at every step (no beam):
 1. position_marginals: CTC forward-backward with the line length fixed (30, 36 or 44): P(position i = character c).
 2. segments: each position offers the characters its field allows; month, day and country are offered as whole blocks.
 3. a dynamic programme over (field residue, composite residue) mod 10 finds the best text whose check digits all hold, and
    the total probability of all such texts.
decode.ts is the same algorithm line by line.
"""
import math
from mrzgen import COUNTRIES

CHARS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<"
NCH = 37
VAL = {c: (i if i < 36 else 0) for i, c in enumerate(CHARS)}
W3 = (7, 3, 1)
EPS = 1e-5            # share of probability spread evenly: the reader is never surer than this
PRIOR_ODDS = 490.0    # valid : not valid before looking at the check digits (0.98 / 0.02 times one check digit's information)
UNLISTED = 0.02       # weight of a country code outside the list
BAND = 1e-9

DIG, LET = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHA = {"n": DIG, "d": DIG + "<", "l": LET, "a": LET + "<", "x": CHARS, "s": "MFX<", "k": DIG, "o": DIG + "<", "f": "<",
         "P": "P", "V": "V", "I": "ACI"}


def position_marginals(lp, L):
    """lp: T x 38 natural-log probabilities (0 = blank). -> (log P(length = L), L x 37 marginals) or None"""
    T = len(lp)
    if T < L:
        return None
    p = [[math.exp(v) for v in row] for row in lp]
    # forward, scaled; A[t][l] = (chars[37]) for l in band
    lo, hi = 0, 0
    ab = {0: 1.0}                       # blank states before frame 0: virtual start
    ac = {}
    sc = {}
    hist = []
    logz = 0.0
    for t in range(T):
        pt = p[t]
        nb, nc, ns, ent = {}, {}, {}, {}
        ls = set()
        for l in ab:
            ls.add(l); ls.add(l + 1)
        for l in ac:
            ls.add(l); ls.add(l + 1)
        tot = 0.0
        for l in sorted(ls):
            if l > L or L - l > T - 1 - t:
                continue
            b = pt[0] * (ab.get(l, 0.0) + sc.get(l, 0.0))
            if b > 0:
                nb[l] = b
                tot += b
            if l >= 1:
                base = ab.get(l - 1, 0.0) + sc.get(l - 1, 0.0)
                prev, same = ac.get(l - 1), ac.get(l)
                row, er, s = [0.0] * NCH, [0.0] * NCH, 0.0
                for c in range(NCH):
                    e = base - prev[c] if prev is not None else base
                    if e < 0:
                        e = 0.0
                    e *= pt[c + 1]
                    er[c] = e
                    v = e + (same[c] * pt[c + 1] if same is not None else 0.0)
                    row[c] = v
                    s += v
                if s > 0:
                    nc[l], ent[l], ns[l] = row, er, s
                    tot += s
        if tot <= 0:
            return None
        inv = 1.0 / tot
        cut = BAND * tot
        ab, ac, sc, en = {}, {}, {}, {}
        for l, v in nb.items():
            if v + ns.get(l, 0.0) > cut:
                ab[l] = v * inv
        for l, s in ns.items():
            if s + nb.get(l, 0.0) > cut:
                ac[l] = [v * inv for v in nc[l]]
                en[l] = [v * inv for v in ent[l]]
                sc[l] = s * inv
        logz += math.log(tot)
        hist.append((set(ab), en, inv, set(ac)))
    end = ab.get(L, 0.0) + sc.get(L, 0.0)
    if end <= 0:
        return None
    # backward with the same scaling
    bb = {L: 1.0}
    bc = {L: [1.0] * NCH}
    marg = [[0.0] * NCH for _ in range(L)]
    for t in range(T - 1, -1, -1):
        bset, en, inv, cset = hist[t]
        for l in cset:
            if l in bc:
                m, e, b = marg[l - 1], en[l], bc[l]
                for c in range(NCH):
                    m[c] += e[c] * b[c]
        if t == 0:
            break
        pbs, pcs = hist[t - 1][0], hist[t - 1][3]
        pt = p[t]
        q, qs = {}, {}
        for l in bc:
            if l in cset:
                r = [pt[c + 1] * bc[l][c] for c in range(NCH)]
                q[l] = r
                qs[l] = sum(r)
        blank = {l: pt[0] * v for l, v in bb.items() if l in bset}
        nbb, nbc = {}, {}
        for l in pbs:
            v = (blank.get(l, 0.0) + qs.get(l + 1, 0.0)) * inv
            if v > 0:
                nbb[l] = v
        for l in pcs:
            x, y, z = blank.get(l, 0.0), q.get(l + 1), q.get(l)
            zs = qs.get(l + 1, 0.0)
            r = [0.0] * NCH
            for c in range(NCH):
                d = zs - y[c] if y is not None else 0.0
                if d < 0:
                    d = 0.0
                r[c] = (x + d + (z[c] if z is not None else 0.0)) * inv
            nbc[l] = r
        bb, bc = nbb, nbc
    for m in marg:
        s = sum(m)
        if s <= 0:
            return None
        for c in range(NCH):
            m[c] /= s
    return logz + math.log(end), marg


def greedy_length(lp):
    n, prev = 0, 0
    for row in lp:
        k = 0
        for c in range(1, NCH + 1):
            if row[c] > row[k]:
                k = c
        if k and k != prev:
            n += 1
        prev = k
    return n


def template(fmt, ext=0):
    """positions in reading order: dict(a=alphabet key, role, wf, wc, reset, block); ext > 0: long document number (TD1, TD2)"""
    n = {"TD1": 30, "TD2": 36, "TD3": 44, "MRVA": 44, "MRVB": 36}[fmt]
    P = []

    def add(key, count=1, **kw):
        for i in range(count):
            P.append(dict(a=key, role=None, f=None, c=False, block=None, name=kw.get("name"), **{}))
            for k in ("role", "f", "c", "block"):
                if k in kw:
                    P[-1][k] = kw[k]

    def country(name):
        add("a", 3, block="C", name=name)

    def date_(name, comp=True):
        add("d", 2, f=name, c=comp, name=name)
        add("d", 2, f=name, c=comp, block="M", name=name)
        add("d", 2, f=name, c=comp, block="D", name=name)
        add("k", 1, role="check", f=name, c=comp, name=name + "Check")

    def number(rest, comp):
        """document number (9), its check digit, optional data (rest)"""
        add("x", 9, f="number", c=comp, name="number")
        if not ext:
            add("k", 1, role="check", f="number", c=comp, name="numberCheck")
            return rest
        add("f", 1, c=comp, name="numberCheck")
        return rest

    def tail(rest, comp):
        if ext:
            add("x", ext, f="number", c=comp, name="number")
            add("k", 1, role="check", f="number", c=comp, name="numberCheck")
            add("f", 1, c=comp, name="optional")
            rest -= ext + 2
        add("x", rest, c=comp, name="optional")

    if fmt == "TD1":
        add("I", name="type"); add("a", name="type"); country("issuer")
        number(15, True); tail(15, True)
        date_("birth"); add("s", name="sex"); date_("expiry"); country("nationality")
        add("x", 11, c=True, name="optional2"); add("k", role="composite", name="compositeCheck")
        add("a", 30, name="names")
        return n, 3, P
    add({"TD2": "I", "TD3": "P"}.get(fmt, "V"), name="type"); add("a", name="type"); country("issuer"); add("a", n - 5, name="names")
    comp = fmt in ("TD2", "TD3")
    number(0, comp); country("nationality"); date_("birth", comp); add("s", name="sex"); date_("expiry", comp)
    if fmt == "TD3":
        add("x", 14, f="personal", c=True, name="optional")
        add("o", 1, role="optcheck", f="personal", c=True, name="optionalCheck")
    elif fmt == "TD2":
        tail(7, True)
    else:
        add("x", n - 28, name="optional")
    if comp:
        add("k", role="composite", name="compositeCheck")
    return n, 2, P


def segments(P, M):
    """[(positions, [(text, prob)])]: what each place may hold. M: smoothed marginals, flat"""
    idx = {c: i for i, c in enumerate(CHARS)}
    out, i = [], 0
    while i < len(P):
        b = P[i]["block"]
        if b is None:
            out.append(([i], [(c, M[i][idx[c]]) for c in ALPHA[P[i]["a"]]]))
            i += 1
            continue
        if b == "C":
            opts = {k: M[i][idx[k[0]]] * M[i + 1][idx[k[1]]] * M[i + 2][idx[k[2]]] for k in COUNTRIES}
            raw = "".join(max(ALPHA["a"], key=lambda c, j=j: M[j][idx[c]]) for j in (i, i + 1, i + 2))
            if raw not in opts:
                opts[raw] = UNLISTED * M[i][idx[raw[0]]] * M[i + 1][idx[raw[1]]] * M[i + 2][idx[raw[2]]]
            out.append(([i, i + 1, i + 2], list(opts.items())))
            i += 3
            continue
        keys = (["%02d" % v for v in range(1, 13)] if b == "M" else ["%02d" % v for v in range(1, 32)]) + ["<<"]
        out.append(([i, i + 1], [(k, M[i][idx[k[0]]] * M[i + 1][idx[k[1]]]) for k in keys]))
        i += 2
    return out


def weights(P):
    wf, wc, cnt, nc = [], [], {}, 0
    for q in P:
        if q["f"] and q["role"] is None:
            k = cnt.get(q["f"], 0)
            wf.append(W3[k % 3])
            cnt[q["f"]] = k + 1
        else:
            wf.append(0)
        if q["c"]:
            wc.append(W3[nc % 3])
            nc += 1
        else:
            wc.append(0)
    return wf, wc


def solve(P, segs):
    """-> (best text, its probability, total probability of texts whose check digits hold), probabilities as logs"""
    wf, wc = weights(P)
    best = [-math.inf] * 100
    tot = [0.0] * 100
    best[0], tot[0] = 0.0, 1.0
    logscale = 0.0
    back = []
    for pos, opts in segs:
        nb, nt, bk = [-math.inf] * 100, [0.0] * 100, [None] * 100
        q = P[pos[0]]
        role = q["role"]
        # fields never interleave, so a check digit ends its field: the residue falls back to 0 after it
        for oi, (text, pr) in enumerate(opts):
            if pr <= 0:
                continue
            lg = math.log(pr)
            df = sum(VAL[c] * wf[p] for c, p in zip(text, pos)) % 10
            dc = sum(VAL[c] * wc[p] for c, p in zip(text, pos)) % 10
            v = VAL[text[0]]
            for s in range(100):
                if tot[s] <= 0 and best[s] == -math.inf:
                    continue
                rf, rc = divmod(s, 10)
                if role in ("check", "optcheck"):
                    if v != rf:
                        continue
                    ns = (rc + dc) % 10
                elif role == "composite":
                    if v != rc:
                        continue
                    ns = 0
                else:
                    ns = (rf + df) % 10 * 10 + (rc + dc) % 10
                nt[ns] += tot[s] * pr
                if best[s] + lg > nb[ns]:
                    nb[ns] = best[s] + lg
                    bk[ns] = (s, oi)
        m = sum(nt)
        if m <= 0:
            return None
        logscale += math.log(m)
        best, tot = nb, [v / m for v in nt]
        back.append(bk)
    s = max(range(100), key=lambda k: best[k])
    lb = best[s]
    parts = []
    for (pos, opts), bk in zip(reversed(segs), reversed(back)):
        s, oi = bk[s]
        parts.append(opts[oi][0])
    return "".join(reversed(parts)), lb, logscale


def as_printed(P, M):
    """-> (text, log probability): the field's alphabet settles close calls (O in a date), never clear print"""
    idx = {c: i for i, c in enumerate(CHARS)}
    text, lb = "", 0.0
    for q, m in zip(P, M):
        al = [idx[c] for c in ALPHA[q["a"]]]
        if sum(m[c] for c in al) * PRIOR_ODDS <= 1.0:
            al = range(NCH)
        k = al[0]
        for c in al:
            if m[c] > m[k]:
                k = c
        text += CHARS[k]
        lb += math.log(m[k])
    return text, lb


def failing(P, text, segs):
    """names of the check digits that do not hold and of the fields that hold what they may not"""
    wf, wc = weights(P)
    acc, comp, bad = {}, 0, []
    for pos, opts in segs:
        if all(o[0] != text[pos[0]:pos[0] + len(pos)] for o in opts) and P[pos[0]]["name"] not in bad:
            bad.append(P[pos[0]]["name"])
    for i, q in enumerate(P):
        v = VAL[text[i]]
        if q["role"] in ("check", "optcheck"):
            if (text[i] in LET or v != acc.get(q["f"], 0) % 10) and q["name"] not in bad:
                bad.append(q["name"])
        elif q["role"] == "composite":
            if (text[i] in LET or v != comp % 10) and q["name"] not in bad:
                bad.append(q["name"])
        if q["f"] and q["role"] is None:
            acc[q["f"]] = acc.get(q["f"], 0) + v * wf[i]
        comp += v * wc[i]
    return bad


def decode(lines):
    """lines: list of 2 or 3 log-probability matrices (T x 38). -> dict or None"""
    fmts = ["TD1"] if len(lines) == 3 else ["TD3", "TD2", "MRVA", "MRVB"]
    cache, best = {}, None
    lens = [30] if len(lines) == 3 else [44, 36]
    seen = max(greedy_length(l) for l in lines)
    lens.sort(key=lambda n: abs(n - seen))
    for n in lens:
        r = [position_marginals(l, n) for l in lines]
        if all(r):
            cache[n] = (sum(x[0] for x in r), [m for x in r for m in x[1]])
            if cache[n][0] > -2.0 * len(lines):
                break
    if not cache:
        return None
    n = max(cache, key=lambda k: cache[k][0])
    loglen, marg = cache[n]
    raw = "".join(CHARS[max(range(NCH), key=lambda c: m[c])] for m in marg)
    M = [[(1 - EPS) * v + EPS / NCH for v in m] for m in marg]
    for fmt in fmts:
        nn, _, P = template(fmt)
        if nn != n:
            continue
        exts = [0]
        if fmt in ("TD1", "TD2"):
            at = 14 if fmt == "TD1" else 45
            if marg[at][36] > 0.05:
                exts += range(1, 14 if fmt == "TD1" else 6)
        for e in exts:
            P = template(fmt, e)[2]
            segs = segments(P, M)
            v = solve(P, segs)
            # a long document number is rarer: it must explain the image 100 times better
            score = (v[2] if v else -1e9) - (4.6 if e else 0)
            if best is None or score > best["score"]:
                best = dict(format=fmt, P=P, segs=segs, valid=v, score=score)
    P, segs, v = best["P"], best["segs"], best["valid"]
    printed = as_printed(P, M)
    # all texts together have probability 1, so exp(v[2]) is the share of those that are valid
    share = math.exp(min(0.0, v[2])) if v else 0.0
    pvalid = PRIOR_ODDS * share / (PRIOR_ODDS * share + 1.0)
    ok = pvalid > 0.5
    text = v[0] if ok else printed[0]
    conf = pvalid * math.exp(v[1] - v[2]) if ok else (1 - pvalid) * math.exp(printed[1])
    if loglen < 0:
        conf *= min(1.0, math.exp(loglen / len(lines)) * 4)
    idx = {c: i for i, c in enumerate(CHARS)}
    return dict(format=best["format"], lines=[text[i:i + n] for i in range(0, len(text), n)], raw=[raw[i:i + n] for i in range(0, len(raw), n)],
                status="invalid" if not ok else "read" if text == raw else "repaired", failing=failing(P, text, segs), confidence=conf, pValid=pvalid,
                suggestion=None if ok or not v else [v[0][i:i + n] for i in range(0, len(v[0]), n)],
                charConfidence=[marg[i][idx[c]] for i, c in enumerate(text)], fields=[q["name"] for q in P])
