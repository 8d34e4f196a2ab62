// SPDX-License-Identifier: Apache-2.0
// Test of a bind over SMPP: a session of its own, which asks after a message that never was and unbinds. What a centre brings
// meanwhile is refused for now, so that it comes again over a session that stores it.
import type { Probe } from '../../../platform/connections/probe.ts'
import { SessionError } from '../../../protocols/smpp/link.ts'
import { Esme } from '../../../protocols/smpp/session.ts'
import { commandStatus } from '../../../protocols/smpp/status.ts'
import type { SmppBind } from './smpp-settings.ts'

const patienceMs = 6_000

export async function testSmpp(bind: SmppBind, probe: Probe): Promise<void> {
  const { host, port, tls, systemId, isPaired } = bind
  await probe.name(host)
  await probe.connection(host, port)
  if (tls) await probe.tls(host, port, tls)
  else probe.skip('tls', 'TLS is off for this connection')
  let session: Esme | null = null
  await probe.step('sign_in', async () => {
    try {
      session = await Esme.connect({
        ...bind,
        bindMode: isPaired ? 'transmitter' : 'transceiver',
        responseTimeoutMs: patienceMs,
        enquireLinkMs: patienceMs,
        onDeliver: async () => commandStatus.ESME_RX_T_APPN,
        onClosed: () => undefined,
      })
    } catch (error) {
      if (!isFull(error)) throw error
      return `The centre says that all sessions of ${systemId} are open already`
    }
    return `The centre let ${systemId} in`
  })
  const open: Esme | null = session
  if (open === null) return probe.skip('answer', 'There is no session of its own to ask over')
  await probe.step('answer', () => answerOf(open))
}

/** The sessions that were agreed are all open: the secrets were good for them. */
function isFull(error: unknown): boolean {
  return error instanceof SessionError && error.status === commandStatus.ESME_RALYBND
}

async function answerOf(session: Esme): Promise<string> {
  const startedMs = performance.now()
  try {
    await session.query({ messageId: '0', source: { ton: 0, npi: 0, address: '' } })
    return `The centre answered a query_sm in ${Math.round(performance.now() - startedMs)} ms`
  } finally {
    await session.close()
  }
}
