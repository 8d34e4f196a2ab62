// SPDX-License-Identifier: Apache-2.0
// Modules that tools/console.mjs makes of what lies in console/src/areas, and of openapi.json.

declare module '#areas' {
  export const areas: readonly import('./area.tsx').Area[]
}

declare module '#words/*' {
  export const book: Readonly<Record<string, string>>
}

declare module '#form/*' {
  /** Fields of the operation's body. */
  export const fields: readonly import('./kit/declared.ts').DeclaredField[]
}

declare module '#lists' {
  /** What a key may be allowed, such as `sms:write`. */
  export const scopes: readonly string[]
  /** Events that webhooks are told of, such as `sms.delivered`. */
  export const events: readonly string[]
}
