// SPDX-License-Identifier: Apache-2.0
// SMPP input from handsets: a dialled code, an input, an aborted dialog. It is acknowledged once stored; the screen
// follows.
import { Type } from 'typebox'
import type { App } from '../../platform/app.ts'
import { occasionNow } from '../../platform/events.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import { tenantOf } from '../../platform/tenant.ts'
import type { Job } from '../../platform/work.ts'
import { commandStatus } from '../../protocols/smpp/status.ts'
import type { UssdMessage } from '../../protocols/smpp/ussd.ts'
import { advance, pushShown } from './advance.ts'
import { dialled, occasionOf } from './dial.ts'
import { dialogName } from './network/dialogs.ts'
import { gatewaysOf, showOnItsNode } from './network/gateways.ts'
import { ussdNetwork } from './network/sandbox.ts'
import { expectedDial } from './sandbox/expected.ts'
import { maxScreenLength } from './screen.ts'
import { isOverUnshown, isUnshownPush, markOf, type Session } from './session.ts'
import { isDialled } from './shortcode.ts'
import { dialogSession } from './store.ts'
import { answered, typed } from './turn.ts'

/** Handles a message; returns the command_status. */
export async function takeUssd(app: App, gateway: string, message: UssdMessage): Promise<number> {
  const { op, phone } = message
  const text = storable(message.text)
  const dialog = dialogName(phone, message.dialog)
  if (op === 'dialled') {
    const code = dialledOf(message)
    return takeDial(app, gateway, { phone, text: code, dialog, mark: markOf(message.sequence, code) })
  }
  const session = await dialogSession(app, gateway, dialog)
  const isRepeatOfLast = op === 'answered' && session?.mark === markOf(message.sequence, text)
  if (!session || (session.awaiting === 'nobody' && !isRepeatOfLast)) return commandStatus.ESME_RX_P_APPN
  if (session.awaiting === 'nobody') return commandStatus.ESME_ROK
  if (op === 'answered') {
    const now = await typed(app, session, text, answerMark(session, message.sequence, text))
    // A repeated input changes nothing: the run of the first one shows the screen.
    if (now !== session) goOn(app, now)
    return commandStatus.ESME_ROK
  }
  const reason = op === 'aborted' ? 'user_cancelled' : 'network_released'
  const move = { kind: 'end', status: 'completed', reason } as const
  if (await advance(app, session, move)) return commandStatus.ESME_ROK
  // It moved on since it was read, such as a push that was noted as shown meanwhile; the network has closed it all the same.
  const now = await dialogSession(app, gateway, dialog)
  if (now && now.awaiting !== 'nobody') await advance(app, now, move)
  return commandStatus.ESME_ROK
}

/**
 * Mark of an answer; null where the network's numbers tell nothing, because it has none, or gives the same one to another
 * answer of the session.
 */
function answerMark({ mark: before, step }: Session, sequence: number | null, text: string): string | null {
  const mark = markOf(sequence, text)
  if (before === null) return step > 1 ? null : mark
  return mark !== before && before.startsWith(`${sequence} `) ? null : mark
}

/** Removes U+0000 and lone surrogates, which handsets may send and PostgreSQL cannot store. */
function storable(text: string): string {
  return text.slice(0, maxScreenLength).replaceAll('\u0000', '').toWellFormed()
}

/** Some gateways send the code as the address with an empty text. */
function dialledOf({ text, code }: UssdMessage): string {
  return isDialled(text) || !/^\d+$/.test(code) ? text : `*${code}#`
}

async function takeDial(
  app: App,
  gateway: string,
  { phone, text, dialog, mark }: { phone: string; text: string; dialog: string; mark: string | null },
): Promise<number> {
  const before = await dialogSession(app, gateway, dialog)
  if (before && before.awaiting !== 'nobody' && before.mark === mark && before.step === 1) return commandStatus.ESME_ROK
  const isSandbox = gateway === gatewaysOf(app).sandboxName
  const expected = isSandbox ? expectedDial(app, phone, text) : undefined
  const occasion = expected
    ? occasionNow(app.clock, expected.tenant, expected.clockOffsetMs)
    : isSandbox
      ? null
      : await occasionOf(app, 'live', text)
  if (!isDialled(text) || !occasion) return commandStatus.ESME_RX_P_APPN
  const outcome = await dialled(app, occasion, {
    ...{ gateway, dialog, mark, phone, dialled: text, network: null, language: null },
    // The screen is a message of its own: the session is stored before it, so that a node that takes over can resume it.
    ...{ isNew: false, isShownAtOnce: false },
  })
  expected?.arrived(outcome)
  if (outcome.kind !== 'begun') return commandStatus.ESME_RX_P_APPN
  goOn(app, outcome.session)
  return commandStatus.ESME_ROK
}

/** Turns in progress on this node that no request waits for. */
const turning = onePerApp(() => new Set<Promise<void>>())

/** Continues a session in the background: asks for the next screen and shows it. */
export function goOn(app: App, session: Session): void {
  const turn = shown(app, session)
    .catch((error) =>
      app.log.warn(
        { error },
        'turn of a USSD session failed: another node takes it, or its timer ends it; check the error if this repeats',
      ),
    )
    .finally(() => turning(app).delete(turn))
  turning(app).add(turn)
}

/** Resolves when the turns in progress before a stop are shown. */
export async function turnsFinished(app: App): Promise<void> {
  await Promise.all(turning(app))
}

async function shown(app: App, session: Session): Promise<void> {
  const now = await answered(app, session)
  await showTo(app, now)
}

/** Shows a session's screen; a session that cannot be reached ends. */
export async function showTo(app: App, session: Session): Promise<void> {
  const gateways = gatewaysOf(app)
  // The gateway belongs to another node.
  if (!gateways.has(session.gateway)) return showOnItsNode(app, session)
  // It was read after its application had ended it, or begun another.
  if (isOverUnshown(session)) return
  const isShown = await gateways.show(session)
  if (session.awaiting === 'nobody') return
  if (!isShown) {
    await advance(app, session, { kind: 'end', status: 'expired', reason: 'undeliverable' })
    return
  }
  if (session.setup.is_notice) {
    const seen = { ...session, shown_at: new Date(app.clock.nowMs()) }
    await advance(app, seen, { kind: 'end', status: 'completed', reason: 'completed' })
    return
  }
  if (isUnshownPush(session)) await pushShown(app, session)
  await answerLate(app, session)
}

/** Sandbox number whose handset answers one second before the timeout, by the account's clock. */
const lateNumber = /000007$/

const LatePayload = Type.Object({ session: Type.String(), phone: Type.String() })

export const lateAnswerJob: Job<App, typeof LatePayload> = {
  lane: 'ussd.answer_late',
  role: 'carriers',
  payload: LatePayload,
  concurrency: 16,
  retrySeconds: [1],
  async handle(app, { payload }) {
    await ussdNetwork.of(app)?.input(payload.phone, '1')
    return { kind: 'done' }
  },
}

async function answerLate(app: App, { id, environment, phone, timeout, ...session }: Session): Promise<void> {
  if (environment !== 'test' || !lateNumber.test(phone)) return
  const place = gatewaysOf(app).sandboxName
  const delayMs = (timeout - 1) * 1_000
  const tenant = tenantOf({ ...session, environment })
  await app.work.add(app.db, app.work.prepare(lateAnswerJob, tenant, { session: id, phone }, { place, delayMs }))
}
