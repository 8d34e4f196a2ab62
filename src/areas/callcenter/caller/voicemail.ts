// SPDX-License-Identifier: Apache-2.0
// Voicemail event, emitted when the recording can be downloaded. Its id is that of the recording.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { CallFacts, FlowRecording } from '../../voice/area.ts'
import { contactOfCall } from '../contacts.ts'
import { voicemailEvents } from '../events.ts'
import { occasionOf } from '../switchboard.ts'

export async function voicemailReceived(
  app: App,
  { tenant, call, direction, from, to }: CallFacts,
  { id, url, seconds }: FlowRecording,
): Promise<void> {
  const occasion = await occasionOf(app, tenant)
  const voicemail = idOf('voicemail', id)
  await app.db.tx(tenant, async (tx) => {
    const contact = await maybe(tx.query(contactOfCall, { ...tenant, call }))
    await app.outbox.emit(tx, voicemailEvents.received, occasion, voicemail, {
      account_id: idOf('account', tenant.account),
      voicemail_id: voicemail,
      call_id: idOf('call', call),
      queue_id: contact?.queue_id ? idOf('queue', contact.queue_id) : null,
      from: direction === 'inbound' ? from : to,
      duration: seconds,
      file_url: url,
    })
  })
}
