// SPDX-License-Identifier: Apache-2.0
// Demo data: an SMTP submission user, as shown in credentials.json.
import type { App } from '../../platform/app.ts'
import type { DemoAccount } from '../../platform/area.ts'
import { openPorts } from './listening.ts'
import { credentialOf, newCredential, smtpHost } from './smtp/credentials.ts'

export async function demoMail(app: App, { tenant, written }: DemoAccount): Promise<Readonly<Record<string, unknown>>> {
  const at = openPorts(app).get('submission')
  if (!at) return {}
  const { username, password } = (await stillValid(app, written.smtp)) ?? (await made(app, tenant))
  return { smtp: { host: smtpHost(app), port: at.port, username, password } }
}

async function made(app: App, tenant: DemoAccount['tenant']): Promise<{ username: string; password: string }> {
  const { row, password } = await app.db.homeTx((tx) =>
    newCredential(tx, tenant, app.clock.nowMs(), { name: 'Demo', domains: [], allowedIps: [] }),
  )
  return { username: row.username, password }
}

async function stillValid(app: App, written: unknown): Promise<{ username: string; password: string } | null> {
  if (typeof written !== 'object' || written === null || !('username' in written) || !('password' in written))
    return null
  const { username, password } = written
  if (typeof username !== 'string' || typeof password !== 'string') return null
  return (await credentialOf(app.db, username, password)) ? { username, password } : null
}
