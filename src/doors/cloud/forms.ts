// SPDX-License-Identifier: Apache-2.0
// Ids of the WhatsApp Cloud API: the same 128 bits as the own ids, as a decimal number or behind `wamid.`.
import { AppError } from '../../kernel/errors.ts'
import { idOf, type Kind, uuidOf } from '../../kernel/ids.ts'

/** Id of a message: `wamid.` and its 16 bytes in base64url. */
export function wamidOf(id: string): string {
  return `wamid.${Buffer.from(hexOf('messengerMessage', id), 'hex').toString('base64url')}`
}

export function messageIdOf(wamid: string): string {
  const bytes = Buffer.from(wamid.replace(/^wamid\./, ''), 'base64url')
  if (!wamid.startsWith('wamid.') || bytes.length !== 16) throw unknownObject(wamid)
  return idOf('messengerMessage', bytes.toString('hex'))
}

/** Id of a file, a template or an account as a decimal number. */
export function decimalOf(kind: Kind, id: string): string {
  return BigInt(`0x${hexOf(kind, id)}`).toString()
}

export function ownIdOf(kind: Kind, decimal: string): string {
  const hex = /^\d{1,39}$/.test(decimal) ? BigInt(decimal).toString(16).padStart(32, '0') : ''
  if (hex.length !== 32) throw unknownObject(decimal)
  return idOf(kind, hex)
}

function hexOf(kind: Kind, id: string): string {
  return (uuidOf(kind, id) ?? '').replaceAll('-', '').padStart(32, '0')
}

export function unknownObject(id: string): AppError {
  return new AppError(
    'NOT_FOUND',
    `Object with ID '${id.slice(0, 60)}' does not exist or does not support this operation`,
  )
}
