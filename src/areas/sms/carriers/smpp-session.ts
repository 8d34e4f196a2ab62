// SPDX-License-Identifier: Apache-2.0
// A session with a message centre as its carrier needs it: texts go out over it and receipts come in. Centres that allow no
// transceiver are bound to twice, and the two connections live and end together: one without the other would send texts of
// which nothing is ever heard, or none at all.
import { SessionError } from '../../../protocols/smpp/link.ts'
import { type BindMode, Esme, type EsmeOptions } from '../../../protocols/smpp/session.ts'
import type { SmppBind } from './smpp-settings.ts'

export type SmppSession = Pick<Esme, 'submit' | 'pending' | 'close'>
type Ears = Pick<EsmeOptions, 'onDeliver' | 'onClosed'>
type Connect = (bindMode: BindMode, onClosed: Ears['onClosed']) => Promise<Esme>

/** As Esme.connect(): `onClosed` is called once, and never when this rejects. */
export function openSession(bind: SmppBind, { onDeliver, onClosed }: Ears): Promise<SmppSession> {
  const { host, port, tls, systemId, password, systemType, window } = bind
  const connect: Connect = (bindMode, onEnd) =>
    Esme.connect({
      ...{ host, port, tls, systemId, password, systemType, window, bindMode, onDeliver },
      responseTimeoutMs: bind.responseTimeoutSeconds * 1_000,
      enquireLinkMs: bind.enquireLinkSeconds * 1_000,
      onClosed: onEnd,
    })
  return bind.isPaired ? openPair(connect, onClosed) : connect('transceiver', onClosed)
}

/** The receiver comes first, so that no receipt has to wait for it. */
async function openPair(connect: Connect, onClosed: Ears['onClosed']): Promise<SmppSession> {
  const open: Esme[] = []
  let isWhole = false
  let endedBecause: string | null = null
  const end = (mode: BindMode, reason: string): void => {
    if (endedBecause !== null) return
    endedBecause = `the ${mode} was lost: ${reason}`
    for (const one of open) void one.close()
    if (isWhole) onClosed(endedBecause)
  }
  const receiver = await connect('receiver', (reason) => end('receiver', reason))
  open.push(receiver)
  const transmitter = await connect('transmitter', (reason) => end('transmitter', reason)).catch(async (error) => {
    // A centre may not let it in again before it is gone.
    await receiver.close()
    throw error
  })
  open.push(transmitter)
  if (endedBecause !== null) {
    void transmitter.close()
    throw new SessionError('closed', endedBecause, { sent: false })
  }
  isWhole = true
  return {
    submit: (message, onLate) => transmitter.submit(message, onLate),
    get pending() {
      return transmitter.pending
    },
    // What is still answered is waited for; a receipt may come as long as that.
    async close() {
      await transmitter.close()
      await receiver.close()
    },
  }
}
