// SPDX-License-Identifier: Apache-2.0
// Status reports of the provider: matched by the opaque data we sent, or by the provider's id.
import type { App } from '../../platform/app.ts'
import type { GraphStatus } from '../../protocols/graph.ts'
import { errorsOfStatus } from './carriers/cloud-errors.ts'
import { changeMessage } from './change.ts'
import type { Channel } from './channels.ts'
import { findByProviderId, findMessage, type MessageRow } from './store.ts'

/** Opaque data returned with every status, so that one that precedes the send reply is matched too. */
export function opaqueOf({ id }: Pick<MessageRow, 'id'>): string {
  return id
}

export async function takeStatus(app: App, channel: Channel, status: GraphStatus): Promise<void> {
  const message = await messageOf(app, channel, status)
  if (message === null)
    return app.log.info(
      { channel: channel.id },
      'status of an unknown message ignored: it was sent elsewhere or is past its retention; nothing to do',
    )
  const errors = status.status === 'failed' ? errorsOfStatus(status.errors) : null
  await changeMessage(app, message, {
    status: status.status,
    errors,
    providerId: status.id,
    phoneNumberId: channel.phoneNumberId,
    job: null,
  })
}

/** Message of this channel's account only, whatever the report says. */
async function messageOf(app: App, { tenant }: Channel, { opaque, id }: GraphStatus): Promise<MessageRow | null> {
  if (isUuid(opaque)) {
    const found = await findMessage(app.db, tenant, opaque)
    if (found) return found
  }
  const ours = await findByProviderId(app.db, tenant, id)
  return ours === null ? null : findMessage(app.db, tenant, ours)
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}
