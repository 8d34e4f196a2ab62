# SPDX-License-Identifier: Apache-2.0
"""Random MRZ content (ICAO 9303): TD1, TD2, TD3, MRV-A, MRV-B; valid check digits unless told otherwise."""
import random

CHARS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<"
COUNTRIES = (
    "ABW AFG AGO AIA ALA ALB AND ARE ARG ARM ASM ATA ATF ATG AUS AUT AZE BDI BEL BEN BES BFA BGD BGR BHR BHS BIH BLM BLR "
    "BLZ BMU BOL BRA BRB BRN BTN BVT BWA CAF CAN CCK CHE CHL CHN CIV CMR COD COG COK COL COM CPV CRI CUB CUW CXR CYM CYP "
    "CZE DJI DMA DNK DOM DZA ECU EGY ERI ESH ESP EST ETH FIN FJI FLK FRA FRO FSM GAB GBR GEO GGY GHA GIB GIN GLP GMB GNB "
    "GNQ GRC GRD GRL GTM GUF GUM GUY HKG HMD HND HRV HTI HUN IDN IMN IND IOT IRL IRN IRQ ISL ISR ITA JAM JEY JOR JPN KAZ "
    "KEN KGZ KHM KIR KNA KOR KWT LAO LBN LBR LBY LCA LIE LKA LSO LTU LUX LVA MAC MAF MAR MCO MDA MDG MDV MEX MHL MKD MLI "
    "MLT MMR MNE MNG MNP MOZ MRT MSR MTQ MUS MWI MYS MYT NAM NCL NER NFK NGA NIC NIU NLD NOR NPL NRU NZL OMN PAK PAN PCN "
    "PER PHL PLW PNG POL PRI PRK PRT PRY PSE PYF QAT REU ROU RUS RWA SAU SDN SEN SGP SGS SHN SJM SLB SLE SLV SMR SOM SPM "
    "SRB SSD STP SUR SVK SVN SWE SWZ SXM SYC SYR TCA TCD TGO THA TJK TKL TKM TLS TON TTO TUN TUR TUV TWN TZA UGA UKR UMI "
    "URY USA UZB VAT VCT VEN VGB VIR VNM VUT WLF WSM YEM ZAF ZMB ZWE "
    "D<< GBD GBN GBO GBP GBS RKS EUE UNO UNA UNK XAA XBA XIM XCC XCE XCO XDC XEC XES XMP XOM XPO XXA XXB XXC XXX UTO IAO").split()
AFRICA = ("DZA AGO BEN BWA BFA BDI CPV CMR CAF TCD COM COG COD CIV DJI EGY GNQ ERI SWZ ETH GAB GMB GHA GIN GNB KEN LSO LBR "
          "LBY MDG MWI MLI MRT MUS MAR MOZ NAM NER NGA RWA STP SEN SYC SLE SOM ZAF SSD SDN TZA TGO TUN UGA ZMB ZWE").split()
SYL = ("A BA BE BI BO CHI DA DE DI DO E EK FA FE GA GO HA HE I JA JO KA KE KI KO KWA LA LE LI LO MA MBE MI MO MU NA NDE NE NG "
       "NI NO NYA O OK OLU PA PE RA RE RI RO SA SE SHI SI SO TA TE THE TI TO TSHI U UCHE VA VAN VI WA WE XI YA YE YU ZA ZI ZO "
       "SMITH SON BERG MANN STEIN OU DIA KH MC O SCH QUI EAU EUX IZ OV EV SKI CZ").split()
NAMES = ("MOHAMED ABDULLAHI FATIMA AISHA IBRAHIM OUSMANE MAMADOU AMINATA KWAME AKOSUA KOFI CHUKWUEMEKA NGOZI OLUWASEUN ADEBAYO "
         "THABO NOMVULA SIPHO WANJIKU OTIENO NJOROGE TENDAI CHIPO TSHEPO DIALLO TRAORE KEITA MENSAH OKAFOR OKONKWO DLAMINI NKOSI "
         "VAN DER MERWE DE LA CRUZ MARIA JOSE ANNA JOHN PETER MUELLER SCHMIDT DUPONT MARTIN ROSSI IVANOVA NGUYEN THI LI WANG ZHANG "
         "TANAKA KIM PARK SINGH KUMAR PATEL SILVA SANTOS GARCIA LOPEZ ERIKSSON HANSEN O BRIEN MCDONALD JEAN PIERRE BAPTISTE").split()
W3 = (7, 3, 1)
VAL = {c: i for i, c in enumerate(CHARS)}
VAL["<"] = 0


def check(s):
    return str(sum(VAL[c] * W3[i % 3] for i, c in enumerate(s)) % 10)


def _name(r):
    if r.random() < 0.45:
        return r.choice(NAMES)
    if r.random() < 0.15:
        return "".join(r.choice(CHARS[10:36]) for _ in range(r.randint(1, 12)))
    return "".join(r.choice(SYL) for _ in range(r.randint(1, 4)))


def names(r, n):
    s = "<".join(_name(r) for _ in range(r.choice((1, 1, 1, 2, 2, 3))))
    if r.random() < 0.97:
        s += "<<" + "<".join(_name(r) for _ in range(r.choice((1, 1, 2, 2, 3, 4))))
    return s[:n].ljust(n, "<")


def docno(r, n=9):
    k = r.random()
    if k < 0.3:
        s = r.choice(CHARS[10:36]) + "".join(r.choice(CHARS[:10]) for _ in range(r.choice((6, 7, 8))))
    elif k < 0.5:
        s = "".join(r.choice(CHARS[10:36]) for _ in range(2)) + "".join(r.choice(CHARS[:10]) for _ in range(r.choice((5, 6, 7))))
    elif k < 0.7:
        s = "".join(r.choice(CHARS[:10]) for _ in range(r.choice((7, 8, 9))))
    else:
        s = "".join(r.choice(CHARS[:36]) for _ in range(r.choice((6, 7, 8, 9, 9, 9))))
    return s[:n].ljust(n, "<")


def optional(r, n, p=0.5):
    if r.random() > p:
        return "<" * n
    k = r.randint(4, n)
    if r.random() < 0.5:
        s = "".join(r.choice(CHARS[:10]) for _ in range(k))
    else:
        s = "".join(r.choice(CHARS[:36] + "<") for _ in range(k))
    return s.ljust(n, "<")


def date(r):
    if r.random() < 0.01:
        return "%02d<<<<" % r.randint(0, 99)
    return "%02d%02d%02d" % (r.randint(0, 99), r.randint(1, 12), r.randint(1, 31))


def country(r):
    return r.choice(AFRICA) if r.random() < 0.4 else r.choice(COUNTRIES)


def document(r, fmt=None):
    """(format, [lines]) with every check digit right."""
    fmt = fmt or r.choice(("TD1", "TD2", "TD3", "TD3", "TD3", "MRVA", "MRVB"))
    c, nat = country(r), None
    nat = c if r.random() < 0.85 else country(r)
    no, dob, exp, sex = docno(r), date(r), date(r), r.choice("MMMFFF<")
    if fmt == "TD3":
        l1 = "P" + r.choice("<<<<<<<PDSOA") + c + names(r, 39)
        opt = optional(r, 14)
        oc = check(opt) if opt.strip("<") else r.choice("<0")
        b = no + check(no) + nat + dob + check(dob) + sex + exp + check(exp) + opt + oc
        return fmt, [l1, b + check(b[0:10] + b[13:20] + b[21:43])]
    if fmt == "TD2":
        l1 = r.choice(("I<", "ID", "A<", "C<", "IR")) + c + names(r, 31)
        b = no + check(no) + nat + dob + check(dob) + sex + exp + check(exp) + optional(r, 7)
        return fmt, [l1, b + check(b[0:10] + b[13:20] + b[21:35])]
    if fmt == "TD1":
        l1 = r.choice(("I<", "ID", "A<", "C<", "IR", "AR")) + c + no + check(no) + optional(r, 15)
        b = dob + check(dob) + sex + exp + check(exp) + nat + optional(r, 11, 0.3)
        return fmt, [l1, b + check(l1[5:30] + b[0:7] + b[8:15] + b[18:29]), names(r, 30)]
    n = 44 if fmt == "MRVA" else 36
    l1 = "V" + r.choice("<<<BCA") + c + names(r, n - 5)
    b = no + check(no) + nat + dob + check(dob) + sex + exp + check(exp)
    return fmt, [l1, b + optional(r, n - 28)]


def pool(args):
    """n lines of each length 30, 36, 44 as lists of class ids 0..36."""
    seed, n = args
    r = random.Random(seed)
    out = {30: [], 36: [], 44: []}
    id_ = {c: i for i, c in enumerate(CHARS)}
    while min(len(v) for v in out.values()) < n:
        need = [k for k, v in out.items() if len(v) < n]
        fmt = {30: "TD1", 36: r.choice(("TD2", "MRVB")), 44: r.choice(("TD3", "TD3", "MRVA"))}[r.choice(need)]
        for l in document(r, fmt)[1]:
            if r.random() < 0.15:      # wrong or random characters: the reader must read what is there
                l = list(l)
                for _ in range(r.randint(1, 6)):
                    l[r.randrange(len(l))] = r.choice(CHARS)
            out[len(l)].append([id_[c] for c in l])
    return {k: v[:n] for k, v in out.items()}


if __name__ == "__main__":
    r = random.Random(1)
    for _ in range(8):
        f, ls = document(r)
        print(f)
        for l in ls:
            print("  ", l, len(l))
