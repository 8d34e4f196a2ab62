// SPDX-License-Identifier: Apache-2.0
// A node that sends over one bind to a message centre, each a process of its own, for benchmarks of the way of a message.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Client } from '../test/client.ts'
import { eventually } from '../test/eventually.ts'
import { kannelAccounts } from '../test/interop/kannel.ts'
import { end, type NodeProcess, start, startNodeProcess } from './children.ts'
import { newHome } from './home.ts'

export interface SmsInstallation {
  home: string
  node: NodeProcess
  operator: Client
  centrePort: number
  /** A new account with money; gives its key. */
  account(): Promise<string>
  /** Have messages go over a new bind with these settings from now on. */
  bind(settings: { window: number; rate?: number }): Promise<void>
  /** The watched texts that reached handsets since it was asked last, and when. */
  arrivals(): Promise<readonly (readonly [string, number])[]>
  stop(): Promise<void>
}

/** Texts that begin with `watched` are reported by the centre. */
export async function startSmsInstallation(watched = ''): Promise<SmsInstallation> {
  const home = await newHome()
  const accounts = JSON.stringify({ pamoja: 'secret', ...kannelAccounts })
  const centre = await start<{ port: number }>('./sms-centre.js', [accounts, watched], {})
  const node = await startNodeProcess({ PAMOJA_HOME: home, PAMOJA_RATE_LIMITS: 'off' })
  const operator = new Client(node.url, readFileSync(node.caFile, 'utf8'), node.credentials.operator_key)
  const address = { host: '127.0.0.1', port: centre.said.port, system_id: 'pamoja', password: 'secret' }
  let binds = 0
  return {
    home,
    node,
    operator,
    centrePort: centre.said.port,
    async account() {
      const opened = { name: 'Bench', country: 'KE', currency: 'KES', plan: 'enterprise' }
      const { body } = await operator.post('/v1/operator/accounts', opened)
      const credit = { amount: 1_000_000_000, currency: 'KES', environment: 'test', reference: 'bench' }
      await done(operator.post(`/v1/operator/accounts/${body.id}/credit`, credit))
      return body.test_api_key
    },
    async bind(settings) {
      const bind = `centre-${++binds}`
      await done(operator.post('/v1/operator/sms/binds', { name: bind, ...address, ...settings }))
      const tiers = [[{ bind }]]
      const { body: routes } = await operator.get('/v1/operator/sms/routes')
      await done(
        routes.data.length === 0
          ? operator.post('/v1/operator/sms/routes', { environment: 'test', tiers })
          : operator.patch(`/v1/operator/sms/routes/${routes.data[0].id}`, { tiers }),
      )
      await eventually(async () => {
        const { body: made } = await operator.get('/v1/operator/sms/binds')
        const { body: now } = await operator.get('/v1/operator/sms/routes')
        const isBound = made.data.some((one: { name: string; bound: number }) => one.name === bind && one.bound > 0)
        return isBound && now.data[0].in_force
      }, 'the bind to be in use')
    },
    async arrivals() {
      centre.child.send('arrivals')
      const [{ arrivals }] = await once(centre.child, 'message')
      return arrivals
    },
    async stop() {
      operator.close()
      await end(node.child)
      await end(centre.child)
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function done(reply: ReturnType<Client['post']>): Promise<void> {
  const { status, text } = await reply
  if (status >= 300) throw new Error(`the operator was answered ${status} ${text}`)
}
