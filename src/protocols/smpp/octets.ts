// SPDX-License-Identifier: Apache-2.0
// The fields that PDUs are made of, as octets: numbers, texts that end with a zero, addresses and the heads of optional
// parameters. Strict about bounds: what does not fit inside its own PDU is thrown as a PduError.
import { commandStatus, PduError } from './status.ts'

export const maxPduBytes = 64 * 1024

export const headerBytes = 16

const tlvHeadBytes = 4

/** The most octets `shortMessage` holds; longer ones are cut into parts or go into the TLV messagePayload. */
const maxShortMessageBytes = 254

export interface Address {
  /** Type of number: 1 international, 5 alphanumeric; see addressTypes. */
  ton: number
  /** Numbering plan: 1 for telephone numbers (E.164), 0 for names. */
  npi: number
  /** Up to 20 characters; a telephone number without its plus sign. */
  address: string
}

export interface Header {
  commandId: number
  status: number
  sequence: number
}

/** Reads the body of one frame and never beyond it. Throws PduError, which decode() turns into a value. */
export class Reader {
  readonly #frame: Buffer
  readonly #header: Header
  #offset = headerBytes

  constructor(frame: Buffer, header: Header) {
    this.#frame = frame
    this.#header = header
  }

  get ended(): boolean {
    return this.#offset >= this.#frame.length
  }

  u8(): number {
    const value = this.#frame[this.#offset]
    if (value === undefined) throw this.#error('the body ends too soon', commandStatus.ESME_RINVCMDLEN)
    this.#offset += 1
    return value
  }

  /** A C-octet string; `size` counts its closing zero. */
  text(size: number, status: number): string {
    const end = endOfText(this.#frame, this.#offset, this.#frame.length)
    if (end === this.#frame.length)
      throw this.#error('a text does not end within the body', commandStatus.ESME_RINVCMDLEN)
    if (end - this.#offset >= size) throw this.#error(`a text has more than ${size - 1} characters`, status)
    const value = end === this.#offset ? '' : this.#frame.toString('latin1', this.#offset, end)
    this.#offset = end + 1
    return value
  }

  /**
   * C-octet string of an answer, read leniently: some centres leave out the closing zero, or exceed the length. A
   * refusal would make us ask again for what was granted.
   */
  looseText(): string {
    const end = endOfText(this.#frame, this.#offset, this.#frame.length)
    const value = this.#frame.toString('latin1', this.#offset, end)
    this.#offset = Math.min(end + 1, this.#frame.length)
    return value
  }

  messageId(): string {
    return this.text(65, commandStatus.ESME_RINVMSGID)
  }

  address(size: number, status: number): Address {
    return { ton: this.u8(), npi: this.u8(), address: this.text(size, status) }
  }

  shortMessage(): Buffer {
    const length = this.u8()
    const end = this.#offset + length
    if (length > maxShortMessageBytes || end > this.#frame.length)
      throw this.#error(`sm_length says ${length}`, commandStatus.ESME_RINVMSGLEN)
    const value = copyOf(this.#frame, this.#offset, end)
    this.#offset = end
    return value
  }

  /**
   * Visits the optional parameters that follow, each by its tag and the range of its value. A rest shorter than a head
   * is padding, which some centres add.
   */
  eachTlv(take: (tag: number, frame: Buffer, start: number, end: number) => void): void {
    while (this.#offset + tlvHeadBytes <= this.#frame.length) {
      const start = this.#offset + tlvHeadBytes
      const end = start + this.#frame.readUInt16BE(this.#offset + 2)
      if (end > this.#frame.length)
        throw this.#error('an optional parameter does not end within the body', commandStatus.ESME_RINVOPTPARSTREAM)
      take(this.#frame.readUInt16BE(this.#offset), this.#frame, start, end)
      this.#offset = end
    }
  }

  #error(message: string, status: number): PduError {
    return new PduError(message, status, this.#header)
  }
}

/** Position of the zero that closes a text, or `end` without one. Texts are short: a loop is faster than indexOf. */
export function endOfText(frame: Buffer, start: number, end: number): number {
  for (let i = start; i < end; i++) if (frame[i] === 0) return i
  return end
}

export function copyOf(frame: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start)
  frame.copy(copy, 0, start, end)
  return copy
}

const largest = { 1: 0xff, 2: 0xffff, 4: 0xffffffff } as const

/** Writes one PDU from the start of the buffer. Throws PduError, which encode() turns into a value. */
export class Writer {
  readonly #buffer: Buffer
  readonly #header: { commandId: number; sequence: number }
  offset = 0

  constructor(buffer: Buffer, header: { commandId: number; sequence: number }) {
    this.#buffer = buffer
    this.#header = header
  }

  u8(value: number): void {
    this.#check(value, 1)
    this.#buffer[this.offset] = value
    this.offset += 1
  }

  integer(value: number, bytes: 1 | 2 | 4): void {
    if (bytes === 1) return this.u8(value)
    this.#check(value, bytes)
    this.offset =
      bytes === 2 ? this.#buffer.writeUInt16BE(value, this.offset) : this.#buffer.writeUInt32BE(value, this.offset)
  }

  /** A C-octet string; a zero would end it early, and what is beyond Latin-1 has no octet. `size` counts its closing zero. */
  text(value: string, size: number, status: number): void {
    this.#need(value.length + 1)
    let sound = value.length < size
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      sound &&= unit !== 0 && unit <= 0xff
      this.#buffer[this.offset + i] = unit
    }
    if (!sound) throw this.#error(`${JSON.stringify(value)} is not a text of up to ${size - 1} octets`, status)
    this.#buffer[this.offset + value.length] = 0
    this.offset += value.length + 1
  }

  messageId(value: string): void {
    this.text(value, 65, commandStatus.ESME_RINVMSGID)
  }

  address({ ton, npi, address }: Address, size: number, status: number): void {
    this.u8(ton)
    this.u8(npi)
    this.text(address, size, status)
  }

  shortMessage(value: Buffer): void {
    if (value.length > maxShortMessageBytes)
      throw this.#error(`a short message of ${value.length} octets`, commandStatus.ESME_RINVMSGLEN)
    this.u8(value.length)
    this.octets(value)
  }

  octets(value: Buffer): void {
    this.#need(value.length)
    value.copy(this.#buffer, this.offset)
    this.offset += value.length
  }

  /** Gives where the value starts: its length, which goes before it, is known once it is written. */
  beginTlv(tag: number): number {
    this.integer(tag, 2)
    this.integer(0, 2)
    return this.offset
  }

  endTlv(valueAt: number): void {
    this.#buffer.writeUInt16BE(this.offset - valueAt, valueAt - 2)
  }

  #check(value: number, bytes: 1 | 2 | 4): void {
    if (!Number.isInteger(value) || value < 0 || value > largest[bytes])
      throw this.#error(`${value} is not a number of ${bytes} octets`, commandStatus.ESME_RINVPARLEN)
    this.#need(bytes)
  }

  #need(bytes: number): void {
    if (this.offset + bytes > this.#buffer.length)
      throw this.#error(`the PDU would exceed ${maxPduBytes} octets`, commandStatus.ESME_RINVMSGLEN)
  }

  #error(message: string, status: number): PduError {
    return new PduError(message, status, this.#header)
  }
}
