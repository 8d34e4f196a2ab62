// SPDX-License-Identifier: Apache-2.0
// Websocket of a customer as an endpoint of `connect`: its address is checked as that of a callback is, and its request is
// signed as one.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { Failure } from '../../../platform/outbound/dial.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { callbackHeaders } from '../../webhooks/area.ts'
import { conversationOf } from '../calls/call.ts'
import type { ActionOf } from '../flow/action.ts'
import type { SocketCall } from '../media/command.ts'

export type SocketEndpoint = Extract<ActionOf<'connect'>['endpoint'][number], { type: 'websocket' }>

/** Call that the websocket is for. */
interface Around {
  readonly parent: string | null
  readonly conversation: string
  readonly clockOffsetMs: number
}

export async function socketCallOf(
  app: App,
  tenant: Tenant,
  endpoint: SocketEndpoint,
  { parent, conversation, clockOffsetMs }: Around,
): Promise<SocketCall | Failure> {
  const { environment } = tenant
  const destination = await app.outbound.destinationOf(urlOf(endpoint.uri), { use: 'callback', environment })
  if (destination instanceof Failure) return destination
  const contentType = endpoint['content-type']
  return {
    destination,
    uri: endpoint.uri,
    rate: contentType === 'audio/l16;rate=16000' ? 16_000 : 8_000,
    headers: await callbackHeaders(app, { tenant, name: 'voice.websocket', clockOffsetMs }),
    hello: {
      ...endpoint.headers,
      event: 'websocket:connected',
      'content-type': contentType,
      call_id: parent === null ? null : idOf('call', parent),
      conversation_uuid: conversationOf({ conversation }),
    },
  }
}

/** URL of a websocket for the rules of addresses, which know HTTP. */
export function urlOf(uri: string): string {
  return uri.replace(/^ws/i, 'http')
}

/** Address of a websocket without its query, which may hold a token. */
export function shownUri(uri: string): string {
  return uri.replace(/[?#].*$/, '')
}
