// SPDX-License-Identifier: Apache-2.0
// Datagrams that nobody should send, to SIP and to audio: real ones that are spoiled, the same for the same seed.

/** Random numbers that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const lines = (...all: string[]) => Buffer.from(`${all.join('\r\n')}\r\n\r\n`)
const head = [
  'Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKfuzz;rport',
  'From: <sip:a@127.0.0.1>;tag=1',
  'To: <sip:b@127.0.0.1>',
  'Call-ID: fuzz',
  'Max-Forwards: 70',
  'Contact: <sip:a@127.0.0.1:9>',
]
const seeds = [
  lines('INVITE sip:+254711000001@127.0.0.1 SIP/2.0', ...head, 'CSeq: 1 INVITE', 'Content-Length: 0'),
  lines('OPTIONS sip:127.0.0.1 SIP/2.0', ...head, 'CSeq: 2 OPTIONS', 'Supported: 100rel, timer', 'Content-Length: 0'),
  lines('BYE sip:b@127.0.0.1 SIP/2.0', ...head, 'CSeq: 3 BYE', 'Authorization: Digest username="x", nonce="y"'),
  lines('CANCEL sip:b@127.0.0.1 SIP/2.0', ...head, 'CSeq: 1 CANCEL'),
  lines('SIP/2.0 200 OK', ...head, 'CSeq: 1 INVITE', 'Session-Expires: 1800;refresher=uac'),
  lines('REFER sip:b@127.0.0.1 SIP/2.0', ...head, 'CSeq: 9 REFER', 'Refer-To: <sip:c@127.0.0.1?Replaces=x>'),
]

/** A message of SIP with bytes changed, taken out, doubled or put in. */
export function spoiledSip(random: (below: number) => number): Buffer {
  let bytes = Buffer.from(seeds[random(seeds.length)] ?? Buffer.alloc(0))
  for (let changes = 1 + random(8); changes > 0; changes--) {
    const at = random(Math.max(1, bytes.length))
    const length = random(20)
    const kind = random(4)
    if (kind === 0 && bytes.length > 0) bytes[at] = random(256)
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
    else if (kind === 2) bytes = Buffer.concat([bytes, bytes.subarray(at, at + length)])
    else bytes = Buffer.concat([bytes.subarray(0, at), Buffer.alloc(length, random(256)), bytes.subarray(at)])
  }
  return bytes.subarray(0, 1_400)
}

const wholePacket = 172

/** A packet of audio or of a key, cut anywhere and with any numbers. */
export function spoiledRtp(random: (below: number) => number): Buffer {
  const packet = Buffer.alloc(wholePacket)
  packet[0] = random(4) === 0 ? random(256) : 0x80
  packet[1] = random(4) === 0 ? random(256) : random(2) === 0 ? 0 : 101
  packet.writeUInt16BE(random(65_536), 2)
  packet.writeUInt32BE(random(2 ** 31), 4)
  return packet.subarray(0, random(wholePacket + 1))
}
