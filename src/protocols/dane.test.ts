// SPDX-License-Identifier: Apache-2.0
// Certificates are made by openssl, so that what is matched is not of our own making.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { daneProblem, usableTlsa } from './dane.ts'

const zeros = (bytes: number) => '00'.repeat(bytes)

const usable: [string, boolean][] = [
  [`3 1 1 ${zeros(32)}`, true],
  [`3 0 2 ${zeros(64)}`, true],
  [`2 1 0 ${zeros(91)}`, true],
  [`3 1 1 ${zeros(31)}`, false],
  [`3 1 2 ${zeros(32)}`, false],
  [`0 0 1 ${zeros(32)}`, false],
  [`1 1 1 ${zeros(32)}`, false],
  [`4 1 1 ${zeros(32)}`, false],
  [`3 2 1 ${zeros(32)}`, false],
  [`3 1 3 ${zeros(32)}`, false],
  ['3 1 0 ', false],
  ['3 1 1', false],
  ['', false],
]
for (const [value, isUsable] of usable)
  test(`the record ${value.slice(0, 12)}, ${value.length} long, ${isUsable ? 'can' : 'cannot'} be used`, () =>
    assert.equal(usableTlsa([value]).length, isUsable ? 1 : 0))

const isMissing = spawnSync('openssl', ['version']).status !== 0

describe('certificates', { skip: isMissing && 'openssl is not installed' }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'pamoja-dane-'))
  after(() => rmSync(dir, { recursive: true, force: true }))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' })

  function issue(name: string, issuer: string | null, extensions: string, days = '30'): X509Certificate {
    writeFileSync(join(dir, `${name}.ext`), extensions)
    openssl(
      'req',
      '-new',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    )
    const signer =
      issuer === null
        ? ['-signkey', `${name}.key`]
        : ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial']
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...signer,
      '-days',
      days,
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.pem`,
    )
    return new X509Certificate(readFileSync(join(dir, `${name}.pem`)))
  }

  const authority = 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n'
  const root = issue('root', null, authority)
  const middle = issue('middle', 'root', authority)
  const short = issue('short', null, 'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=keyCertSign\n')
  const under = issue('under', 'short', authority)
  const named = issue('named', null, `${authority}nameConstraints=permitted;DNS:mx.example\n`)
  const own = issue('own', 'middle', 'subjectAltName=DNS:mx.example\n')
  const wild = issue('wild', 'root', 'subjectAltName=DNS:*.shop.example\n')
  const ofRoot = issue('of-root', 'root', 'subjectAltName=DNS:mx.example\n')
  const ofUnder = issue('of-under', 'under', 'subjectAltName=DNS:mx.example\n')
  const ofNamed = issue('of-named', 'named', 'subjectAltName=DNS:mx.example\n')
  const nameless = issue('mx.example', 'root', 'basicConstraints=CA:FALSE\n')
  const notCa = issue('not-ca', 'root', 'basicConstraints=critical,CA:FALSE\nsubjectAltName=DNS:x.example\n')
  const ofNotCa = issue('of-not-ca', 'not-ca', 'subjectAltName=DNS:mx.example\n')
  const twin = issue('twin', null, authority)

  const now = new Date()
  const later = new Date(now.getTime() + 60 * 86_400_000)

  function record(usage: number, selector: number, matching: number, certificate: X509Certificate): string {
    const whole = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' })
    const data =
      matching === 0
        ? whole
        : createHash(matching === 1 ? 'sha256' : 'sha512')
            .update(whole)
            .digest()
    return `${usage} ${selector} ${matching} ${data.toString('hex')}`
  }
  test('the stronger digest of a usage and selector counts alone', () => {
    const weak = record(3, 1, 1, own)
    const wrong = `3 1 2 ${zeros(64)}`
    assert.match(problem([weak, wrong], [own]) ?? '', /does not match/)
    assert.equal(problem([weak, `3 0 2 ${zeros(64)}`], [own]), null)
    assert.equal(problem([weak, `2 1 2 ${zeros(64)}`], [own]), null)
  })

  function problem(values: string[], chain: X509Certificate[], names = ['mx.example'], at = now): string | null {
    return daneProblem(usableTlsa(values), chain, names, at)
  }

  const rows: [string, string[], X509Certificate[], RegExp | null, { names?: string[]; at?: Date }?][] = [
    ['the server’s own key', [record(3, 1, 1, own)], [own, middle], null],
    [
      'its own certificate, whatever its name and date',
      [record(3, 0, 1, own)],
      [own],
      null,
      { names: ['x.test'], at: later },
    ],
    ['another key', [record(3, 1, 1, wild)], [own, middle], /does not match/],
    ['its authority as if it were its own', [record(3, 1, 1, middle)], [own, middle], /does not match/],
    ['its own key as if it were an authority', [record(2, 1, 1, own)], [own, middle], /nor an authority/],
    ['the authority above it', [record(2, 1, 1, middle)], [own, middle], null],
    ['an authority further up', [record(2, 0, 2, root)], [own, middle, root], null],
    ['an authority that the server does not send', [record(2, 1, 1, root)], [own, middle], /nor an authority/],
    ['an authority that is in the DNS as a whole', [record(2, 0, 0, root)], [own, middle], null],
    ['another authority that is in the DNS as a whole', [record(2, 0, 0, twin)], [own, middle], /nor an authority/],
    [
      'an authority, for another name',
      [record(2, 1, 1, root)],
      [ofRoot, root],
      /not for y\.example/,
      { names: ['y.example'] },
    ],
    [
      'an authority, for the second name',
      [record(2, 1, 1, root)],
      [ofRoot, root],
      null,
      { names: ['y.example', 'mx.example'] },
    ],
    ['an authority, with a wildcard', [record(2, 1, 1, root)], [wild, root], null, { names: ['mx.shop.example'] }],
    [
      'an authority, with a wildcard for one label',
      [record(2, 1, 1, root)],
      [wild, root],
      /not for/,
      { names: ['a.mx.shop.example'] },
    ],
    ['an authority, with the name only as its subject', [record(2, 1, 1, root)], [nameless, root], /not for/],
    ['an authority, after its time', [record(2, 1, 1, root)], [ofRoot, root], /expired/, { at: later }],
    ['an authority that did not sign', [record(2, 1, 1, twin)], [ofRoot, twin], /not signed by the next/],
    ['what is no authority', [record(2, 1, 1, notCa)], [ofNotCa, notCa], /no authority/],
    ['an authority over what is none', [record(2, 1, 1, root)], [ofNotCa, notCa, root], /no authority/],
    [
      'an authority that may have none under it',
      [record(2, 1, 1, short)],
      [ofUnder, under, short],
      /may not have others/,
    ],
    ['an authority for some names', [record(2, 1, 1, named)], [ofNamed, named], /some names only/],
    ['nothing, as the server sent none', [record(3, 1, 1, own)], [], /no certificate/],
  ]
  for (const [what, values, chain, expected, { names = ['mx.example'], at = now } = {}] of rows)
    test(`a record of ${what} is ${expected ? 'refused' : 'taken'}`, () => {
      const found = problem(values, chain, names, at)
      if (expected) assert.match(found ?? '', expected)
      else assert.equal(found, null)
    })
})
