// SPDX-License-Identifier: Apache-2.0
// Hosted page of a capture session, and what its script asks for. The address is the authorisation until the person agrees;
// from then on the cookie of that browser is needed as well.
import { readFileSync } from 'node:fs'
import { AppError } from '../../../kernel/errors.ts'
import {
  type Hook,
  type HookAnswer,
  type HookCall,
  hook,
  json,
  jsonOf,
  pagesPerAddress,
} from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { refuseOtherOrigins } from '../../../platform/auth/console-sessions.ts'
import { maybe } from '../../../platform/db.ts'
import { fileHook } from '../../../platform/http/static-files.ts'
import { root } from '../../../platform/program/root.ts'
import { askedBy, chosen, type Language } from '../../../platform/web/language.ts'
import { refusalPage } from '../../../platform/web/refusal.ts'
import { secretNamed } from '../../../platform/web/secret-name.ts'
import { page } from '../../../platform/web/shell.ts'
import { policyOf } from '../policy.ts'
import {
  agree,
  challengeFor,
  isBound,
  openPage,
  partBytes,
  receivedSoFar,
  submit,
  takePart,
  type Visit,
  visitOf,
} from './capture.ts'
import { pageOf, siteOf } from './page.ts'
import { reasonsOf, sessionPath, statusOf } from './session.ts'
import { findSessionByToken } from './store.ts'
import { captureTexts } from './texts.ts'

const maxAnswerBytes = 16_384
/** Requests of one session and minute: pictures in parts, and the page that waits for the verdict. */
const perMinute = 600
/** Submissions, each of which keeps the engines busy. */
const submissionsPerMinute = 6
const cookieName = 'pamoja_verify'
/** Secret that a browser makes for itself. */
const browserForm = /^[a-z0-9]{32}$/

type Tokened = HookCall<{ token: string }>

async function visitAt(app: App, call: Tokened): Promise<Visit> {
  const named = secretNamed(call.params.token)
  const row = named && (await maybe(app.db.query(findSessionByToken, named)))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such session')
  if (row.is_suspended) throw new AppError('ACCOUNT_SUSPENDED', 'the account is suspended')
  return visitOf(call, row)
}

/** Visit of the browser in which the person agreed. */
async function ownVisitAt(app: App, call: Tokened): Promise<Visit> {
  const visit = await visitAt(app, call)
  if (!isBound(visit.row, secretIn(call))) throw new AppError('FORBIDDEN', 'this check was opened in another browser')
  return visit
}

function secretIn({ headers }: Pick<HookCall, 'headers'>): string | null {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? null
}

/** What the page shows: how far the session is, and what was wrong with the last try. */
function stateOf({ row, occasion }: Visit, secret: string | null) {
  const status = statusOf(row, occasion.nowMs)
  const isElsewhere = row.browser_hash !== null && !isBound(row, secret)
  return {
    status: isElsewhere && status === 'capturing' ? 'elsewhere' : status,
    tries_left: Math.max(0, row.tries_allowed - row.tries),
    reasons: isElsewhere ? [] : reasonsOf(row).map(({ code, check }) => ({ code, check })),
  }
}

function languageOf(call: HookCall<unknown>, { row }: Visit): Language {
  const { lang, acceptLanguage } = askedBy(call)
  return chosen({ lang: lang ?? row.language ?? undefined, acceptLanguage }).language
}

const answered = (value: object): HookAnswer => {
  const answer = json(value)
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
}

const asking = (
  methods: Hook['methods'],
  path: string,
  summary: string,
  limits: Hook['limits'],
  handle: (app: App, call: HookCall<{ token: string; picture: string }>) => Promise<HookAnswer>,
  maxBytes = maxAnswerBytes,
): Hook =>
  hook({
    methods,
    path: `${sessionPath}/:token${path}`,
    operation: 'identity.capture',
    summary,
    maxBytes,
    limits: [{ name: `capture${path}`, by: 'token', perMinute }, ...limits],
    handle: async (app, call: HookCall<{ token: string; picture: string }>) => {
      if (call.method !== 'GET') refuseOtherOrigins(call.headers)
      return handle(app, call)
    },
  })

const show = hook({
  methods: ['GET', 'HEAD'],
  path: `${sessionPath}/:token`,
  operation: 'identity.showSession',
  summary: 'A person opens the page that takes pictures of a document and a face',
  maxBytes: 1,
  limits: [{ name: 'capture-view', by: 'token', perMinute }, pagesPerAddress],
  handle: async (app, call: Tokened) => {
    const visit = await visitAt(app, call)
    const { privacy_notice_url } = await policyOf(app.db, visit.tenant)
    const state = stateOf(visit, secretIn(call))
    return page(200, pageOf(app, visit, languageOf(call, visit), { state, notice: privacy_notice_url }))
  },
  refused: (_app, call, error) => refusalPage(call, error, ({ words }) => words(captureTexts)('noSuch')),
})

const read = asking(['GET'], '/state', 'The page asks how far its session is', [], async (app, call) =>
  answered(stateOf(await visitAt(app, call), secretIn(call))),
)

const begin = asking(['POST'], '/open', 'The page says that somebody sees it', [], async (app, call) => {
  await openPage(app, await visitAt(app, call))
  return answered(stateOf(await visitAt(app, call), secretIn(call)))
})

const consent = asking(['POST'], '/agree', 'A person agrees, and goes on in this browser', [], async (app, call) => {
  const visit = await visitAt(app, call)
  const { browser } = Object(jsonOf(call))
  if (typeof browser !== 'string' || !browserForm.test(browser))
    throw new AppError('INVALID_REQUEST', 'browser must be a secret of 32 letters and digits')
  // Asked again where the answer was lost.
  if (!isBound(visit.row, browser)) await agree(app, visit, languageOf(call, visit), browser)
  const answer = answered(stateOf(await visitAt(app, call), browser))
  const seconds = Math.max(60, Math.ceil((visit.row.expires_at.getTime() - visit.occasion.nowMs) / 1_000))
  const path = `${sessionPath}/${call.params.token}`
  // In a frame of another site a cookie has to be one of that frame. Requests of other origins are refused either way.
  const scope = siteOf(visit.row) === null ? 'SameSite=Lax' : 'SameSite=None; Partitioned'
  const cookie = `${cookieName}=${browser}; Path=${path}; Max-Age=${seconds}; HttpOnly; Secure; ${scope}`
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie } }
})

const ask = asking(['POST'], '/challenge', 'The page asks what the person has to do', [], async (app, call) =>
  answered(await challengeFor(app, await ownVisitAt(app, call))),
)

const picture = asking(
  ['GET', 'PUT'],
  '/pictures/:picture',
  'The page sends a part of a picture, or asks how much of it arrived',
  [],
  async (app, call) => {
    const visit = await ownVisitAt(app, call)
    const { picture: name } = call.params
    if (call.method === 'GET') return answered({ offset: await receivedSoFar(app, visit, name) })
    const start = Number(call.query.offset)
    if (!Number.isSafeInteger(start) || start < 0) throw new AppError('INVALID_REQUEST', 'offset must be a number')
    return answered({ offset: await takePart(app, visit, name, start, call.bytes) })
  },
  partBytes,
)

const send = asking(
  ['POST'],
  '/submit',
  'A person submits the pictures',
  [{ name: 'capture-submit', by: 'token', perMinute: submissionsPerMinute }],
  async (app, call) => {
    await submit(app, await ownVisitAt(app, call), call, jsonOf(call))
    return answered(stateOf(await visitAt(app, call), secretIn(call)))
  },
)

const script = fileHook('identity.capturePage', {
  path: `${sessionPath}/capture.js`,
  type: 'text/javascript',
  contentSecurityPolicy: "default-src 'none'",
  make: () => readFileSync(new URL('src/areas/identity/sessions/page/capture.js', root), 'utf8'),
})

export const sessionHooks: readonly Hook[] = [show, script, read, begin, consent, ask, picture, send]
