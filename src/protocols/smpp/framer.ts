// SPDX-License-Identifier: Apache-2.0
// A stream of bytes, cut into the frames of PDUs.
import { headerBytes, maxPduBytes } from './octets.ts'
import { commandStatus, PduError } from './status.ts'

/**
 * Cuts a stream of bytes into frames. It holds less than one PDU and what was last pushed. A frame given out is valid until
 * the next push. After an error the stream has no known place to go on from, so the session must end.
 */
export class Framer {
  #buffer = Buffer.allocUnsafe(4096)
  #start = 0
  #end = 0

  push(chunk: Buffer): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeRoom(chunk.length)
    chunk.copy(this.#buffer, this.#end)
    this.#end += chunk.length
  }

  /** The next whole frame; null when more bytes are needed. */
  next(): Buffer | PduError | null {
    const available = this.#end - this.#start
    if (available < 4) return null
    const length = this.#buffer.readUInt32BE(this.#start)
    if (length < headerBytes || length > maxPduBytes) return this.#badLength(length, available)
    if (available < length) return null
    const frame = this.#buffer.subarray(this.#start, this.#start + length)
    this.#start += length
    return frame
  }

  #makeRoom(bytes: number): void {
    const held = this.#end - this.#start
    const target = held + bytes > this.#buffer.length ? Buffer.allocUnsafe(2 * (held + bytes)) : this.#buffer
    this.#buffer.copy(target, 0, this.#start, this.#end)
    this.#buffer = target
    this.#start = 0
    this.#end = held
  }

  #badLength(length: number, available: number): PduError {
    const whole = available >= headerBytes
    return new PduError(`command_length says ${length}`, commandStatus.ESME_RINVCMDLEN, {
      commandId: whole ? this.#buffer.readUInt32BE(this.#start + 4) : 0,
      sequence: whole ? this.#buffer.readUInt32BE(this.#start + 12) : 0,
    })
  }
}
