// SPDX-License-Identifier: Apache-2.0
// Behaviour of the sandbox's network for a test account: delays, failures, and unreachable handsets. It travels with
// each message, so that any node's simulator applies it and it affects no other customer. Numbers that force an outcome
// keep theirs.
import { type Static, Type } from 'typebox'
import { buckets } from '../../../kernel/ids.ts'
import { e164 } from '../../../kernel/phone.ts'
import { record } from '../../../platform/api/audit.ts'
import { type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, statement } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { Nullable, OneOf } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Wish } from '../../../protocols/smpp/wish.ts'
import { messageCentre } from './message-centre.ts'

const maxDelayMs = 600_000
const maxOutOfCoverage = 100
/** How long behaviours of some databases alone are kept. */
const partialMs = 1_000
/** Accounts whose behaviours a node keeps; a test installation has fewer. */
const maxAccounts = 10_000
const everyHandset = '*'
/** Prefix of the signal that the behaviour of an account changed; the account follows. */
const topic = 'behaviour '

/** Failure -> the NN of the number that forces it. */
const outcomes = {
  UNDELIVERABLE: '02',
  REJECTED: '03',
  UNKNOWN_SUBSCRIBER: '04',
  NO_RECEIPT: '05',
  EXPIRED: '06',
  THROTTLED: '08',
} as const
type Failure = keyof typeof outcomes
const failures: readonly Failure[] = [
  'UNDELIVERABLE',
  'REJECTED',
  'UNKNOWN_SUBSCRIBER',
  'NO_RECEIPT',
  'EXPIRED',
  'THROTTLED',
]

const Behaviour = Type.Object(
  {
    delay_ms: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: maxDelayMs,
        rule: `must be 0 to ${maxDelayMs}`,
        description: 'Milliseconds from the submit to the receipt; null: about a second',
      }),
    ),
    error: Nullable(OneOf(failures, { description: 'Error of every message; null: none' })),
    out_of_coverage: Type.Array(
      Type.String({ pattern: `${e164}|^\\*$`, rule: 'must be an E.164 number, or * for every handset' }),
      {
        maxItems: maxOutOfCoverage,
        rule: `must list at most ${maxOutOfCoverage} numbers`,
        description:
          'Handsets out of coverage, which receive their messages once they are taken off this list; `*` for all',
      },
    ),
  },
  { title: 'SmsSandboxBehaviour' },
)

type Behaviour = Static<typeof Behaviour>

const usual: Behaviour = { delay_ms: null, error: null, out_of_coverage: [] }

interface BehaviourRow {
  account_id: string
  delay_ms: number | null
  error: Failure | null
  out_of_coverage: string[]
}

const columns = 'account_id, delay_ms, error, out_of_coverage'

const loadAll = statement.everywhere<{ buckets: readonly number[]; most: number }, BehaviourRow>(
  'sms.load_behaviours',
  `select ${columns} from sms.sandbox_behaviours where bucket = any($buckets::smallint[]) limit $most::int`,
)

const find = statement.tenant<{ bucket: number; account: string }, BehaviourRow>(
  'sms.find_behaviour',
  `select ${columns} from sms.sandbox_behaviours where bucket = $bucket and account_id = $account`,
)

const put = statement.tenant<
  { bucket: number; account: string; delayMs: number | null; error: string | null; outOfCoverage: readonly string[] },
  BehaviourRow
>(
  'sms.put_behaviour',
  `insert into sms.sandbox_behaviours (bucket, account_id, delay_ms, error, out_of_coverage)
   values ($bucket, $account, $delayMs, $error, $outOfCoverage)
   on conflict (bucket, account_id) do update
     set delay_ms = excluded.delay_ms, error = excluded.error, out_of_coverage = excluded.out_of_coverage
   returning ${columns}`,
)

type Behaviours = ReadonlyMap<string, Behaviour>

/** Behaviours of all accounts, read when first needed and again after a change. */
const behavioursOf = onePerApp((app) => {
  const known: { behaviours: Promise<Behaviours> | null; forget(): void } = {
    behaviours: null,
    forget: () => (known.behaviours = null),
  }
  app.signals.on('sms', (what) => {
    if (!what.startsWith(topic)) return
    known.forget()
    void recover(app, what.slice(topic.length))
  })
  app.signals.on('accounts', (account) => void followClock(app, account))
  app.signals.onGap(known.forget)
  return known
})

async function load(app: App): Promise<Behaviours> {
  const { rows, failure } = await app.db.queryReached(loadAll, { buckets, most: maxAccounts })
  // A database that is away has some of them: they are asked for again, and its accounts send nothing until then.
  if (failure !== null) setTimeout(behavioursOf(app).forget, partialMs).unref()
  return new Map(rows.map((row) => [row.account_id, row]))
}

/** Number whose messages arrive too late to wait for. */
const lateNumber = /000007$/

/** Instruction for the simulator with a message of an account; null: the default. */
export async function wishFor(
  app: App,
  { account, environment }: Tenant,
  to: string,
  clockOffsetMs: number,
): Promise<Wish | null> {
  if (environment !== 'test') return null
  const known = behavioursOf(app)
  known.behaviours ??= load(app)
  const behaviours = await known.behaviours.catch((error: unknown) => {
    known.forget()
    throw error
  })
  const behaviour = behaviours.get(account) ?? (lateNumber.test(to) ? usual : null)
  if (!behaviour) return null
  const { delay_ms: delayMs, error, out_of_coverage: out } = behaviour
  return {
    account,
    delayMs,
    outcome: error === null ? null : outcomes[error],
    isOutOfCoverage: out.includes(everyHandset) || out.includes(to),
    clockOffsetMs,
  }
}

const clockOffset = statement.home<{ account: string }, { ms: bigint }>(
  'sms.test_clock_offset',
  `select accounts.clock_offset_ms($account::uuid, 'test') as ms`,
)

/** Delivers the simulator's delayed answers earlier when the account moved its clock. */
async function followClock(app: App, account: string): Promise<void> {
  const smsc = messageCentre.of(app)
  if (!smsc?.waitsFor(account)) return
  try {
    smsc.moveClock(account, Number((await one(app.db.query(clockOffset, { account }))).ms))
  } catch (error) {
    app.log.warn(
      { error },
      'sandbox not notified of a moved test clock: its delayed replies follow the old one; nothing to do',
    )
  }
}

/** Begins to listen, before a message is sent: some may still be under way from before the start. */
export function followBehaviours(app: App): void {
  if (messageCentre.of(app) !== null) behavioursOf(app)
}

/** Handsets of an account that are in reach again get what waits for them in this node's simulator. */
async function recover(app: App, account: string): Promise<void> {
  const smsc = messageCentre.of(app)
  if (smsc === null) return
  const known = behavioursOf(app)
  known.behaviours ??= load(app)
  const behaviours = await known.behaviours.catch(() => null)
  if (behaviours === null) return known.forget()
  smsc.recover(account, behaviours.get(account)?.out_of_coverage ?? [])
}

const readBehaviour = read({
  method: 'GET',
  path: '/v1/sandbox/sms/behaviour',
  operation: 'sandbox.smsBehaviour',
  summary: 'Get the behaviour of the simulated network',
  scope: 'sandbox:read',
  reply: { status: 200, schema: Behaviour },
  examples: [{ name: 'As it is' }],
  handle: async (app, _input, { tenant: { bucket, account } }) =>
    (await maybe(app.db.query(find, { bucket, account }))) ?? usual,
})

const changeBehaviour = write({
  method: 'PATCH',
  path: '/v1/sandbox/sms/behaviour',
  operation: 'sandbox.changeSmsBehaviour',
  summary: 'Set the behaviour of the simulated network',
  description:
    'Applies to messages sent from now on. Test numbers with a fixed outcome keep it. Messages for a handset out ' +
    'of coverage arrive when it is taken off the list.',
  scope: 'sandbox:write',
  body: Type.Partial(Behaviour, { title: 'SmsSandboxBehaviourChange' }),
  reply: { status: 200, schema: Behaviour },
  errors: ['VALIDATION_ERROR'],
  examples: [
    { name: 'A slow network', body: { delay_ms: 5_000 } },
    { name: 'A handset out of coverage', body: { out_of_coverage: ['+254711000020'] } },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { bucket, account } = caller.tenant
    const before: Behaviour = (await maybe(tx.query(find, { bucket, account }))) ?? usual
    const wanted = { ...before, ...body }
    const row = await one(
      tx.query(put, {
        bucket,
        account,
        delayMs: wanted.delay_ms,
        error: wanted.error,
        outOfCoverage: wanted.out_of_coverage,
      }),
    )
    const { delay_ms, error, out_of_coverage } = row
    const after = { delay_ms, error, out_of_coverage }
    await record(tx, caller, 'sandbox.change_sms_behaviour', caller.accountId, { after })
    await app.signals.send(tx, 'sms', `${topic}${account}`)
    // This node obeys at once, without waiting to hear of it.
    tx.afterCommit(() => behavioursOf(app).forget())
    return after
  },
})

export const behaviourRoutes: readonly Route[] = [readBehaviour, changeBehaviour]
