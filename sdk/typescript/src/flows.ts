// SPDX-License-Identifier: Apache-2.0
// Call flows, USSD menus and screens, written down step by step: `flow().talk('Habari').input({ maxDigits: 1 })`.
import type { UssdMenuDocument } from './schemas.ts'

type Fields = Readonly<Record<string, unknown>>

/** Endpoint that `connect` rings. */
export type Endpoint =
  | { type: 'phone'; number: string }
  | { type: 'sip'; uri: string }
  | { type: 'websocket'; uri: string; headers?: Fields }

/** Actions of a call, in order. It is JSON by itself: answer with it, or give its `actions` to `voice.createCall`. */
export class Flow {
  readonly actions: Fields[]

  constructor(actions: Fields[] = []) {
    this.actions = actions
  }

  /** Any action, by its name. */
  add(action: string, fields: Fields = {}): Flow {
    return new Flow([...this.actions, { action, ...fields }])
  }

  /** Speaks; `language` such as `sw-KE`. */
  talk(text: string, fields: Fields = {}): Flow {
    return this.add('talk', { text, ...fields })
  }

  /** Plays a file, the first of these that works. */
  play(url: string | readonly string[], fields: Fields = {}): Flow {
    return this.add('stream', { streamUrl: typeof url === 'string' ? [url] : url, ...fields })
  }

  /** Takes keys, or speech. */
  input(fields: Fields = {}): Flow {
    return this.add('input', { type: ['dtmf'], ...fields })
  }

  record(fields: Fields = {}): Flow {
    return this.add('record', fields)
  }

  /** Rings a phone number, or endpoints of which the first that answers wins. */
  connect(to: string | readonly Endpoint[], fields: Fields = {}): Flow {
    return this.add('connect', { endpoint: typeof to === 'string' ? [{ type: 'phone', number: to }] : to, ...fields })
  }

  wait(seconds: number): Flow {
    return this.add('wait', { timeout: seconds })
  }

  hangup(reason?: 'busy' | 'rejected'): Flow {
    return this.add('hangup', reason === undefined ? {} : { reason })
  }

  toJSON(): readonly Fields[] {
    return this.actions
  }
}

export const flow = (): Flow => new Flow()

/** Words of a screen: one text, or one for each language of the menu. */
type Words = string | Record<string, string>
type Screen = UssdMenuDocument['nodes'][string]

/** Stored menu, screen by screen; the first is the start. Give it to `ussd.createMenu`. */
export class Menu {
  readonly name: string
  readonly languages?: string[]
  readonly start: string
  readonly nodes: UssdMenuDocument['nodes']

  constructor(name: string, languages?: string[], start = '', nodes: UssdMenuDocument['nodes'] = {}) {
    this.name = name
    if (languages) this.languages = languages
    this.start = start
    this.nodes = nodes
  }

  /** Any screen, by its fields. */
  add(screen: string, fields: Screen): Menu {
    return new Menu(this.name, this.languages, this.start || screen, { ...this.nodes, [screen]: fields })
  }

  /** Screen with a numbered choice: the label, and the screen that it leads to. */
  choose(screen: string, text: Words, options: readonly (readonly [label: Words, next: string])[]): Menu {
    return this.add(screen, { text, options: options.map(([label, next]) => ({ label, next })) })
  }

  /** Screen that takes what is typed, known as `{{data.<save>}}` from then on. */
  ask(screen: string, text: Words, save: string, next: string, rule: { pattern?: string; error?: Words } = {}): Menu {
    return this.add(screen, { text, input: { save, ...rule }, next })
  }

  /** Screen for which your application is asked first, by POST. */
  fetch(screen: string, url: string, fields: Screen = {}): Menu {
    return this.add(screen, { fetch: { url }, ...fields })
  }

  /** Last screen; `sms` texts the subscriber, `pay` asks the phone for money. */
  end(screen: string, text: Words, fields: Screen = {}): Menu {
    return this.add(screen, { text, end: true, ...fields })
  }
}

/** USSD: a stored menu, and the screens of a shortcode in the mode `text`. */
export const ussd = {
  /** Stored menu, to which screens are added. */
  stored: (name: string, languages?: string[]): Menu => new Menu(name, languages),
  /** Screen that wants an answer. */
  ask: (message: string): string => `CON ${message}`,
  /** Screen with a numbered choice. */
  menu: (title: string, choices: readonly string[]): string =>
    `CON ${[title, ...choices.map((choice, index) => `${index + 1} ${choice}`)].join('\n')}`,
  /** Last screen. */
  end: (message: string): string => `END ${message}`,
}
