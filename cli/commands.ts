// SPDX-License-Identifier: Apache-2.0
// Commands for what is done most: a text, a payment, a call, a mail, a code, events and keys.
import { stderr } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pamoja } from '../sdk/typescript/src/pamoja.ts'
import { faint, plain, say, sayJson, sayThing, tell } from './output.ts'
import { type CommandLine, optionOf, UsageError, wordsOf } from './usage.ts'

export interface Command {
  readonly usage: string
  readonly summary: string
  run(client: Pamoja, line: CommandLine): Promise<void>
}

const tailPauseMs = 1_500

export const commands: readonly Command[] = [
  {
    usage: 'sms send <to> <message>',
    summary: 'Send a text [--from PAMOJA].',
    async run(client, line) {
      const [to = '', message = ''] = wordsOf(line, ['to', 'message'], this.usage)
      const from = optionOf(line, 'from') ?? 'PAMOJA'
      show(line, await client.sms.send({ to, message, from, ...line.fields }))
    },
  },
  {
    usage: 'pay <phone> <amount>',
    summary: 'Request a payment from a phone and wait for the payer [--currency KES].',
    async run(client, line) {
      const [phone = '', amount = ''] = wordsOf(line, ['phone', 'amount'], this.usage)
      const currency = optionOf(line, 'currency') ?? 'KES'
      const made = await client.payments.create({ phone, amount: numberOf(amount), currency, ...line.fields })
      if (stderr.isTTY) tell(faint(`${made.payment_id} is ${made.status}: waiting for the payer …`))
      const payment = await client.payments.wait(made.payment_id)
      show(line, payment)
      // A script that goes on after `pay` goes on with the money.
      if (payment.status !== 'completed') process.exitCode = 1
    },
  },
  {
    usage: 'call <to>',
    summary: 'Call a phone and speak a text [--from +254700000000] [--text Habari] [--language sw-KE].',
    async run(client, line) {
      const [to = ''] = wordsOf(line, ['to'], this.usage)
      const actions = [
        { action: 'talk', text: optionOf(line, 'text') ?? 'Habari', language: optionOf(line, 'language') ?? 'sw-KE' },
      ]
      const from = optionOf(line, 'from') ?? '+254700000000'
      show(line, await client.voice.createCall({ to, from, actions, ...line.fields }))
    },
  },
  {
    usage: 'mail <to> <subject>',
    summary: 'Send a mail [--from you@your-domain] [--text …].',
    async run(client, line) {
      const [to = '', subject = ''] = wordsOf(line, ['to', 'subject'], this.usage)
      const from = optionOf(line, 'from')
      if (!from)
        throw new UsageError('--from must be an address at one of your verified domains (`pamoja email listDomains`).')
      show(
        line,
        await client.email.send({ to, subject, from, text: optionOf(line, 'text') ?? subject, ...line.fields }),
      )
    },
  },
  {
    usage: 'verify <phone>',
    summary: 'Send a code to a phone [channel=voice].',
    async run(client, line) {
      const [phone = ''] = wordsOf(line, ['phone'], this.usage)
      show(line, await client.identity.sendOtp({ phone, ...line.fields }))
    },
  },
  {
    usage: 'verify check <otp_id> <code>',
    summary: 'Check a code.',
    async run(client, line) {
      const [otp_id = '', code = ''] = wordsOf(line, ['otp_id', 'code'], this.usage)
      show(line, await client.identity.verifyOtp({ otp_id, code }))
    },
  },
  {
    usage: 'trigger <event>',
    summary: 'Send a sample event to your webhooks and streams [name=value …].',
    async run(client, line) {
      const [event = ''] = wordsOf(line, ['event'], this.usage)
      const override = Object.keys(line.fields).length > 0 ? { override: line.fields } : {}
      show(line, await client.events.trigger({ event, ...override }))
    },
  },
  {
    usage: 'replay <webhook_id>',
    summary: 'Replay the deliveries of a webhook [--since 1h] [status=failed].',
    async run(client, line) {
      const [id = ''] = wordsOf(line, ['webhook_id'], this.usage)
      const from = new Date(Date.now() - millisecondsOf(optionOf(line, 'since') ?? '1h')).toISOString()
      show(line, await client.webhooks.replay(id, { from, to: new Date().toISOString(), ...line.fields }))
    },
  },
  {
    usage: 'logs tail',
    summary: 'Show requests of this account as they are made [--status 422].',
    run: tail,
  },
  {
    usage: 'keys list',
    summary: 'List API keys.',
    async run(client, line) {
      for await (const key of client.apiKeys.list(line.fields)) {
        const { id, name, environment, scopes } = key
        say(
          line.options.json ? JSON.stringify(key) : `${id}  ${environment}  ${plain(name)}  ${faint(scopes.join(' '))}`,
        )
      }
    },
  },
  {
    usage: 'keys create <name>',
    summary: 'Create an API key, shown once [scopes:=\'["sms:write"]\'].',
    async run(client, line) {
      const [name = ''] = wordsOf(line, ['name'], this.usage)
      show(line, await client.apiKeys.create({ name, ...line.fields }))
    },
  },
  {
    usage: 'keys revoke <id>',
    summary: 'Revoke an API key at once.',
    async run(client, line) {
      const [id = ''] = wordsOf(line, ['id'], this.usage)
      show(line, await client.apiKeys.revoke(id))
    },
  },
  {
    usage: 'keys roll <id>',
    summary: 'Rotate an API key; the old one stays valid for a grace period.',
    async run(client, line) {
      const [id = ''] = wordsOf(line, ['id'], this.usage)
      show(line, await client.apiKeys.rotate(id, line.fields))
    },
  },
]

/** Requests as they are made, oldest first, until the command is interrupted. */
async function tail(client: Pamoja, line: CommandLine): Promise<void> {
  wordsOf(line, [], 'logs tail')
  const status = optionOf(line, 'status')
  const told = new Set<string>()
  for (let isFirst = true; ; isFirst = false) {
    const { data } = await client.logs.list({ limit: 50, ...(status ? { status: Number(status) } : {}) }).page()
    const news = data
      .filter(({ request_id, operation }) => !told.has(request_id) && operation !== 'logs.list')
      .reverse()
    told.clear()
    for (const { request_id } of data) told.add(request_id)
    for (const entry of isFirst ? news.slice(-10) : news) {
      const { at, method, path, status: answered, duration_ms, error_code } = entry
      say(
        line.options.json
          ? JSON.stringify(entry)
          : `${faint(String(at).slice(11, 19))}  ${answered}  ${method.padEnd(6)} ${plain(path)}  ${faint(`${duration_ms} ms`)} ${error_code ?? ''}`.trimEnd(),
      )
    }
    await pause(tailPauseMs)
  }
}

function show(line: CommandLine, thing: object): void {
  if (line.options.json) sayJson(thing)
  else sayThing(thing)
}

function numberOf(text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new UsageError(`${text} is not an amount, such as 1500 or 12.50.`)
  return value
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function millisecondsOf(text: string): number {
  const [, number = '', unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  if (number === '') throw new UsageError(`${text} is not a time such as 30m, 12h or 2d.`)
  return Number(number) * (units[unit] ?? 0)
}
