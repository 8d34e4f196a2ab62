// SPDX-License-Identifier: Apache-2.0
// A person at a page: what a node serves over HTTPS becomes a document (happy-dom), its own script runs in it and asks the
// same node, forms are filled in by their labels and sent as a browser sends them. Nothing is drawn: how a page looks is not
// seen here.
import assert from 'node:assert/strict'
import {
  type HTMLButtonElement,
  type HTMLElement,
  type HTMLFormElement,
  type HTMLInputElement,
  Window,
} from 'happy-dom'
import type { Client } from './client.ts'
import { eventually } from './world.ts'

const maxSteps = 10
/** Constructor of a function of a text that may wait, which is not a global. */
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor

export class Tab {
  readonly #client: Client
  #window = new Window()
  #going: Promise<void> = Promise.resolve()
  /** Status of the page that is shown. */
  status = 0
  /** Address of the page, or the one elsewhere that it was sent to. */
  url: URL

  private constructor(client: Client, url: URL) {
    this.#client = client
    this.url = url
  }

  static async open(client: Client, url: string): Promise<Tab> {
    const tab = new Tab(client, new URL(url))
    await tab.#go('GET', url)
    return tab
  }

  async close(): Promise<void> {
    await this.#window.happyDOM.close()
  }

  /** All words of the page, without those of a dialog that is not open. */
  get text(): string {
    const parts = [...this.#window.document.body.children].filter((one) =>
      one.matches('dialog[open], :not(dialog, noscript)'),
    )
    return parts.map(({ textContent }) => textContent.replaceAll(/\s+/g, ' ')).join(' ')
  }

  /** Loads the page anew, as one that refreshes itself does. */
  reload(): Promise<void> {
    return this.#go('GET', this.url.href)
  }

  /** Waits until the page says something, for pages with a script; or until it does after being loaded anew. */
  async says(what: RegExp, { reloading = false } = {}): Promise<string> {
    return eventually(
      async () => {
        if (reloading) await this.reload()
        return what.exec(this.text)?.[0]
      },
      `the page to say ${what}, which says: ${this.text.slice(0, 300)}`,
      60_000,
    )
  }

  /** Presses the button, or follows the link, that says so; the last of them, as a dialog stands last. */
  async press(words: string): Promise<void> {
    const target = await eventually(async () => this.#pressable(words).at(-1), `something that says ${words}`)
    const href = target.getAttribute('href')
    if (href !== null) await this.#go('GET', new URL(href, this.url).href)
    else target.click()
    await this.#going
  }

  has(words: string): boolean {
    return this.#pressable(words).length > 0
  }

  /** Fills in the field with this label, or ticks the box with it. */
  fill(label: string, value: string | boolean): void {
    const field = this.#all<HTMLElement>('label').find((one) => said(one).startsWith(label))
    const input = field?.querySelector('input')
    assert.ok(input, `there is no field ${label}`)
    if (typeof value === 'boolean') input.checked = value
    else input.value = value
  }

  #pressable(words: string): HTMLElement[] {
    return this.#all<HTMLElement>('button:not([hidden], [disabled]), a, summary').filter(
      (one) => said(one) === words && one.closest('dialog')?.hasAttribute('open') !== false,
    )
  }

  #all<T extends HTMLElement>(selector: string): T[] {
    return [...this.#window.document.querySelectorAll<T>(selector)]
  }

  /** Goes on as it is sent on: by a Location, or by a page that names the next at once. */
  async #go(method: string, url: string, body?: string): Promise<void> {
    let asked = { method, url: new URL(url), body }
    for (let step = 0; step < maxSteps; step++) {
      const { pathname, search, origin } = asked.url
      this.url = asked.url
      if (origin !== new URL(url).origin) return
      const form = { raw: asked.body ?? '', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
      const sent = asked.method === 'POST' ? form : {}
      const { status, headers, text } = await this.#client.request(asked.method, `${pathname}${search}`, sent)
      this.status = status
      const next = headers.location ?? /http-equiv="refresh" content="0; url=([^"]+)"/.exec(text)?.[1]
      if (next === undefined) return this.#show(text)
      asked = { method: 'GET', url: new URL(next, asked.url), body: undefined }
    }
    throw new Error(`sent on more than ${maxSteps} times, to ${this.url}`)
  }

  async #show(text: string): Promise<void> {
    await this.#window.happyDOM.close()
    this.#window = new Window({ url: this.url.href })
    const { document } = this.#window
    document.write(text)
    document.addEventListener('submit', (event) => {
      const form = this.#all<HTMLFormElement>('form').find((one) => one === event.target)
      if (event.defaultPrevented || !form || form.getAttribute('method') === 'dialog') return
      event.preventDefault()
      const pressed = 'submitter' in event ? event.submitter : null
      const by = this.#all<HTMLButtonElement>('button').find((one) => one === pressed)
      this.#going = this.#go('POST', new URL(form.getAttribute('action') ?? '', this.url).href, filled(form, by))
    })
    for (const script of this.#all('script[src]')) await this.#run(script.getAttribute('src') ?? '')
  }

  /** The page's own script, as it is served; it finds the page where a browser would give it. */
  async #run(path: string): Promise<void> {
    const { text, status } = await this.#client.get(path)
    assert.equal(status, 200, path)
    const { document, location, history, sessionStorage, navigator } = this.#window
    const given = { document, location, history, sessionStorage, navigator, fetch: this.#fetch }
    await new AsyncFunction(...Object.keys(given), text)(...Object.values(given))
  }

  readonly #fetch = async (
    path: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
  ): Promise<Response> => {
    const sent = body === undefined ? { headers } : { headers, raw: body }
    const { status, text } = await this.#client.request(method, path, sent)
    return new Response(status === 204 ? null : text, { status })
  }
}

function said(element: HTMLElement): string {
  return element.textContent.trim().replaceAll(/\s+/g, ' ')
}

/** Content of a form: its fields, and the button that sent it. */
function filled(form: HTMLFormElement, by: HTMLButtonElement | undefined): string {
  const fields = new URLSearchParams()
  for (const one of form.querySelectorAll<HTMLInputElement>('input, select')) {
    const { name, value, type, checked } = one
    if (name !== '' && ((type !== 'checkbox' && type !== 'radio') || checked)) fields.append(name, value)
  }
  if (by?.name) fields.append(by.name, by.value)
  return fields.toString()
}
