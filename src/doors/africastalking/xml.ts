// SPDX-License-Identifier: Apache-2.0
// Replies as XML, for programs that ask for it.

const singular: Readonly<Record<string, string>> = { Recipients: 'Recipient', Messages: 'Message', entries: 'entry' }

export function xmlOf(value: object): string {
  return `<AfricasTalkingResponse>${elementsOf(value)}</AfricasTalkingResponse>`
}

function elementsOf(value: object): string {
  return Object.entries(value)
    .map(([name, inside]) => element(name, inside))
    .join('')
}

function element(name: string, value: unknown): string {
  if (Array.isArray(value))
    return `<${name}>${value.map((one) => element(singular[name] ?? name, one)).join('')}</${name}>`
  if (typeof value === 'object' && value !== null) return `<${name}>${elementsOf(value)}</${name}>`
  return `<${name}>${escaped(String(value ?? ''))}</${name}>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
