// SPDX-License-Identifier: Apache-2.0
// Sides of SIP for unit tests: endpoints with short timers, diaries of what calls tell, and peers that speak by hand.
import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import type { SipCall } from '../src/protocols/sip/call.ts'
import { type EndpointOptions, SipEndpoint } from '../src/protocols/sip/endpoint.ts'
import { parseMessage, readCseq, SipHeaders, type SipMessage, type SipRequest } from '../src/protocols/sip/message.ts'
import type { CallHandlers, Invitation } from '../src/protocols/sip/switchboard.ts'
import type { TransportName } from '../src/protocols/sip/transport.ts'

export const host = '127.0.0.1'
export const quick = { t1Ms: 20, t2Ms: 80, t4Ms: 100 }
export const offer =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n'

export async function endpoint(t: TestContext, options: Partial<EndpointOptions> = {}): Promise<SipEndpoint> {
  const opened = await SipEndpoint.open({
    host,
    ports: { udp: 0, tcp: 0 },
    timing: quick,
    invited: () => null,
    ...options,
  })
  t.after(() => opened.close())
  return opened
}

/** Writes down what a call tells, and lets a test wait for one of its words. */
export function diary() {
  const lines: string[] = []
  const waits: { word: string; done(): void }[] = []
  const note = (line: string) => {
    lines.push(line)
    for (const wait of waits) if (line.startsWith(wait.word)) wait.done()
  }
  const handlers: CallHandlers = {
    progress: (status) => note(`progress ${status}`),
    answered: (description) => note(`answered ${description.length}`),
    refused: (status) => note(`refused ${status}`),
    ended: (by, reason) => note(`ended ${by} ${reason}`),
    offered: (description) => {
      note('offered')
      return description
    },
    digit: (digit, ms) => note(`digit ${digit} ${ms}`),
    referred: (target, tell) => {
      note(`referred ${target}`)
      queueMicrotask(() => tell(486))
      return true
    },
  }
  const until = (word: string): Promise<void> =>
    lines.some((line) => line.startsWith(word)) ? Promise.resolve() : new Promise((done) => waits.push({ word, done }))
  return { lines, handlers, until }
}

export function invitation(
  to: SipEndpoint,
  transport: TransportName = 'udp',
  extra: Partial<Invitation> = {},
): Invitation {
  const port = to.ports[transport] ?? 0
  return {
    uri: `sip:+254711000001@${host}:${port}`,
    peer: { transport, host, port },
    from: '<sip:+254700000000@127.0.0.1>',
    description: offer,
    ...extra,
  }
}

/** Does something with each call that comes in, a moment later. */
export const later = (act: (call: SipCall) => void) => ({
  invited(call: SipCall) {
    queueMicrotask(() => act(call))
    return {}
  },
})

/** A peer that speaks SIP by hand, so that it can be rude. */
export async function byHand(t: TestContext): Promise<{ socket: Socket; port: number; next(): Promise<SipMessage> }> {
  const socket = createSocket('udp4')
  t.after(() => socket.close())
  const heard: SipMessage[] = []
  let wake = () => {}
  socket.on('message', (bytes) => {
    heard.push(parseMessage(bytes))
    wake()
  })
  socket.bind(0, host)
  await once(socket, 'listening')
  const next = async () => {
    while (heard.length === 0) await new Promise<void>((done) => (wake = done))
    const message = heard.shift()
    assert.ok(message)
    return message
  }
  return { socket, port: socket.address().port, next }
}

export function invite(port: number, changes: [string, string][] = []): SipRequest {
  const headers = SipHeaders.of([
    ['via', `SIP/2.0/UDP 10.9.8.7:5099;branch=z9hG4bKhand;rport`],
    ['from', '<sip:a@example.com>;tag=hand'],
    ['to', `<sip:b@${host}>`],
    ['call-id', 'by-hand'],
    ['cseq', '1 INVITE'],
    ['contact', `<sip:a@10.9.8.7:5099>`],
    ...changes,
  ])
  return { kind: 'request', method: 'INVITE', uri: `sip:b@${host}:${port}`, headers, body: Buffer.from(offer) }
}

/** The next request of a method; answers and other requests before it are passed over. */
export async function nextRequest(peer: { next(): Promise<SipMessage> }, method: string, seq = 0): Promise<SipRequest> {
  for (;;) {
    const message = await peer.next()
    if (message.kind === 'request' && message.method === method && (readCseq(message.headers)?.number ?? 0) > seq)
      return message
  }
}

export async function nextAnswer(peer: { next(): Promise<SipMessage> }, status: number, seq = 1): Promise<SipMessage> {
  for (;;) {
    const message = await peer.next()
    if (message.kind === 'response' && message.status === status && readCseq(message.headers)?.number === seq)
      return message
  }
}
