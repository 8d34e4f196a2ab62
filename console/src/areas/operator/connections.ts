// SPDX-License-Identifier: Apache-2.0
// What this installation is connected to, kind by kind: where the API has it, what its form begins with, and what follows when it
// is paused or removed. The fields of the forms are those of openapi.json.

import { fields as channelFields } from '#form/operator.connectMessengerChannel'
import { fields as registryFields } from '#form/operator.connectRegistry'
import { fields as providerFields } from '#form/operator.createPaymentProvider'
import { fields as bindFields } from '#form/operator.createSmsBind'
import { fields as gatewayFields } from '#form/operator.createUssdGateway'
import { fields as networkFields } from '#form/operator.createUssdSmppGateway'
import { fields as trunkFields } from '#form/operator.createVoiceTrunk'
import {
  operatorChangePaymentProvider,
  operatorChangeSmsBind,
  operatorChangeUssdSmppGateway,
  operatorChangeVoiceTrunk,
  operatorConnectMessengerChannel,
  operatorConnectRegistry,
  operatorCreatePaymentProvider,
  operatorCreateSmsBind,
  operatorCreateUssdGateway,
  operatorCreateUssdSmppGateway,
  operatorCreateVoiceTrunk,
  operatorDeleteUssdGateway,
  operatorDeleteUssdSmppGateway,
  operatorDisconnectMessengerChannel,
  operatorDisconnectRegistry,
  operatorGetPaymentProvider,
  operatorGetRegistry,
  operatorGetSmsBind,
  operatorGetUssdGateway,
  operatorGetUssdSmppGateway,
  operatorGetVoiceTrunk,
  operatorListMessengerChannels,
  operatorListPaymentProviders,
  operatorListRegistries,
  operatorListSmsBinds,
  operatorListUssdGateways,
  operatorListUssdSmppGateways,
  operatorListVoiceTrunks,
  operatorRemovePaymentProvider,
  operatorRemoveSmsBind,
  operatorRemoveVoiceTrunk,
  operatorTestPaymentProvider,
  operatorTestSmsBind,
  operatorTestVoiceTrunk,
} from '#sdk/operations.ts'
import type { DeclaredField } from '../../kit/declared.ts'
import type { Filled } from '../../kit/form.tsx'
import type { IconName } from '../../kit/icons.tsx'
import type { ListOf } from '../../kit/list-page.tsx'
import { words } from '../../kit/words.ts'
import { accountOf } from './account-name.tsx'

/** An operation as these pages call it: what its path and its body are. */
export interface Asked {
  readonly method: string
  readonly path: string
}

interface Preset {
  readonly name: string
  readonly values: Filled
  /** Fields that are shown at once; the others of `only` stand below More settings. */
  readonly main: readonly string[]
  readonly only?: (field: DeclaredField) => boolean
}

export interface Connection {
  readonly slug: string
  readonly title: string
  /** Name of the button and of the page that connects one. */
  readonly connect: string
  readonly icon: IconName
  readonly advice: string
  readonly keyField: string
  readonly list: Asked
  readonly get?: Asked
  readonly create: Asked
  readonly change?: Asked
  readonly remove: Asked
  readonly test?: Asked
  readonly fields: readonly DeclaredField[]
  readonly presets: readonly Preset[]
  readonly columns: ListOf['columns']
  /** What follows when it is paused, and when it is removed. */
  readonly paused: readonly string[]
  readonly removed: readonly string[]
  /** Field of the answer that is shown once. */
  readonly shownOnce?: string
  /** Figures of its page: name and field. */
  readonly figures?: readonly (readonly [name: string, field: string])[]
}

const name = { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true } as const
const country = { name: 'Country', field: 'country', as: 'country', priority: 2 } as const
const host = { name: 'Host', field: 'host', as: 'mono', priority: 3, card: 'sub' } as const
const lastError = { name: 'Last error', field: 'last_error', priority: 3, grows: true } as const
const since = { name: 'Created', field: 'created_at', as: 'time', priority: 4 } as const
const state = { name: 'State', field: '~state', as: 'state', priority: 1, card: 'state' } as const

/** Where providers are asked in earnest. */
const liveAt: Readonly<Record<string, string>> = {
  mpesa: 'https://api.safaricom.co.ke',
  mtn_momo: 'https://proxy.momoapi.mtn.com',
  airtel_money: 'https://openapi.airtel.africa',
  orange_money: 'https://api.orange.com',
  wave: 'https://api.wave.com',
  vodacom_mpesa: 'https://openapi.m-pesa.com',
}

const ofAll = ['environment', 'country']
const providerPresets = (providerFields.find((field) => field.name === 'provider')?.among ?? []).map(
  (provider): Preset => {
    const needed = providerFields.filter(({ needs }) => needs?.includes(provider)).map((field) => field.name)
    const isOwn = (field: DeclaredField): boolean =>
      field.needs === undefined
        ? field.name !== 'provider'
        : field.needs.includes(provider) || field.pays?.includes(provider) === true
    return {
      name: words(provider),
      values: { provider, environment: 'live', base_url: liveAt[provider] },
      main: [...ofAll, ...needed],
      only: isOwn,
    }
  },
)

const smpp = ['name', 'host', 'port', 'tls', 'system_id', 'password', 'sessions', 'rate']
const http = ['name', 'password', 'profile', 'rate']
const ofHttp = [...http, 'window', 'response_timeout_seconds', 'enabled']
const sip = ['name', 'host', 'transport', 'prefixes', 'number_format', 'country']

export const connections: readonly Connection[] = [
  {
    ...{ slug: 'providers', title: 'Payment providers', connect: 'Connect a payment provider', icon: 'coins' },
    advice: 'Connections to mobile money, card acquirers and banks are listed here.',
    keyField: 'id',
    list: operatorListPaymentProviders,
    get: operatorGetPaymentProvider,
    create: operatorCreatePaymentProvider,
    change: operatorChangePaymentProvider,
    remove: operatorRemovePaymentProvider,
    test: operatorTestPaymentProvider,
    fields: providerFields,
    presets: providerPresets,
    columns: [
      { name: 'Provider', field: 'provider', as: 'words', priority: 1, card: 'title', grows: true },
      { ...country, card: 'sub' },
      { name: 'Environment', field: 'environment', as: 'words', priority: 3 },
      { name: 'Changed', field: 'updated_at', as: 'time', priority: 4 },
      state,
    ],
    paused: ['New payments by it are refused.', 'Pending operations are polled until their outcome is known.'],
    removed: ['New payments by it are refused.', 'Pending payments are left unchanged until they expire.'],
  },
  {
    ...{ slug: 'carriers', title: 'Carriers', connect: 'Connect a carrier', icon: 'antenna' },
    advice: 'Connections for live texts are listed here.',
    keyField: 'name',
    list: operatorListSmsBinds,
    get: operatorGetSmsBind,
    create: operatorCreateSmsBind,
    change: operatorChangeSmsBind,
    remove: operatorRemoveSmsBind,
    test: operatorTestSmsBind,
    fields: bindFields,
    presets: [
      {
        name: 'Message centre (SMPP)',
        values: { kind: 'smpp', port: '2775' },
        main: smpp,
        only: (field) => field.name !== 'profile',
      },
      {
        name: 'Message centre (SMPP over TLS)',
        values: { kind: 'smpp', port: '3550', tls: 'yes' },
        main: smpp,
        only: (field) => field.name !== 'profile',
      },
      {
        name: 'Aggregator over HTTP',
        values: { kind: 'http' },
        main: http,
        only: (field) => ofHttp.includes(field.name),
      },
    ],
    columns: [
      { name: 'Name', field: 'name', as: 'mono', priority: 1, card: 'title' },
      state,
      { name: 'Kind', field: 'kind', as: 'words', priority: 3 },
      { name: 'Texts a second', field: 'current_rate', as: 'count', priority: 2, card: 'end' },
      { name: 'Waiting', field: 'pending', as: 'count', priority: 2 },
      { name: 'Sessions', field: 'bound', as: 'count', priority: 4 },
      { ...lastError, card: 'sub' },
    ],
    paused: ['Its sessions are closed after pending requests.', 'Waiting texts use another carrier, or keep waiting.'],
    removed: ['Its sessions are closed, and its settings are deleted.', 'Refused while a route uses it.'],
    figures: [
      ['Texts a second', 'current_rate'],
      ['Waiting', 'pending'],
      ['Sessions', 'bound'],
    ],
  },
  {
    ...{ slug: 'trunks', title: 'SIP trunks', connect: 'Connect a SIP trunk', icon: 'call' },
    advice: 'Connections for live calls are listed here.',
    keyField: 'name',
    list: operatorListVoiceTrunks,
    get: operatorGetVoiceTrunk,
    create: operatorCreateVoiceTrunk,
    change: operatorChangeVoiceTrunk,
    remove: operatorRemoveVoiceTrunk,
    test: operatorTestVoiceTrunk,
    fields: trunkFields,
    presets: [
      { name: 'Authenticates by IP address', values: { transport: 'udp', port: '5060' }, main: sip },
      {
        name: 'Signs in with a password',
        values: { transport: 'udp', port: '5060', registers: 'yes' },
        main: [...sip, 'username', 'password', 'registers'],
      },
      { name: 'Encrypted (TLS)', values: { transport: 'tls', port: '5061' }, main: [...sip, 'username', 'password'] },
    ],
    columns: [
      { ...name, grows: false },
      host,
      { name: 'Prefixes', field: 'prefixes', priority: 2 },
      { name: 'Calls', field: 'calls', as: 'count', priority: 2, card: 'end' },
      lastError,
      state,
    ],
    paused: ['Outbound and inbound calls over it are disabled.', 'Calls in progress continue.'],
    removed: ['Outbound and inbound calls over it are disabled.', 'Calls in progress continue.'],
    figures: [
      ['Calls', 'calls'],
      ['Calls at once', 'max_calls'],
    ],
  },
  {
    ...{ slug: 'ussd-networks', title: 'USSD networks', connect: 'Connect a USSD network', icon: 'keypad' },
    advice: 'Connections for USSD over SMPP are listed here.',
    keyField: 'name',
    list: operatorListUssdSmppGateways,
    get: operatorGetUssdSmppGateway,
    create: operatorCreateUssdSmppGateway,
    change: operatorChangeUssdSmppGateway,
    remove: operatorDeleteUssdSmppGateway,
    fields: networkFields,
    presets: [
      {
        name: 'USSD over SMPP',
        values: { port: '2775' },
        main: ['name', 'host', 'port', 'tls', 'system_id', 'password', 'prefixes'],
      },
    ],
    columns: [name, host, lastError, state],
    paused: ['Sessions of its subscribers end, and no new ones begin.'],
    removed: ['Sessions of its subscribers end, and no new ones begin.', 'Its settings are deleted.'],
  },
  {
    ...{ slug: 'ussd-gateways', title: 'USSD gateways', connect: 'Create USSD gateway', icon: 'keypad' },
    advice: 'HTTP gateways for USSD are listed here.',
    keyField: 'id',
    list: operatorListUssdGateways,
    get: operatorGetUssdGateway,
    create: operatorCreateUssdGateway,
    remove: operatorDeleteUssdGateway,
    fields: gatewayFields,
    presets: [{ name: 'USSD over HTTP', values: {}, main: ['name', 'environment', 'allowed_ips'] }],
    columns: [name, { name: 'Environment', field: 'environment', as: 'words', priority: 2, card: 'sub' }, since],
    paused: [],
    removed: ['Its URL stops working: subscribers see an error.'],
    shownOnce: 'url',
  },
  {
    ...{ slug: 'channels', title: 'Messenger channels', connect: 'Connect a business number', icon: 'chat' },
    advice: 'Business numbers of accounts are listed here.',
    keyField: 'id',
    list: operatorListMessengerChannels,
    create: operatorConnectMessengerChannel,
    remove: operatorDisconnectMessengerChannel,
    fields: channelFields,
    presets: [
      {
        name: 'WhatsApp Business',
        values: { base_url: 'https://graph.facebook.com' },
        main: channelFields.map((field) => field.name),
      },
    ],
    columns: [
      name,
      { name: 'Number', field: 'display_number', as: 'mono', priority: 1, card: 'sub' },
      { name: 'Account', field: 'account_id', show: accountOf, priority: 2 },
      since,
    ],
    paused: [],
    removed: ['The number can no longer send or receive.'],
  },
  {
    ...{ slug: 'registries', title: 'Identity registries', connect: 'Connect a registry', icon: 'shield' },
    advice: 'Registries for document checks are listed here.',
    keyField: 'id',
    list: operatorListRegistries,
    get: operatorGetRegistry,
    create: operatorConnectRegistry,
    remove: operatorDisconnectRegistry,
    fields: registryFields,
    presets: [{ name: 'Registry over HTTPS', values: {}, main: registryFields.map((field) => field.name) }],
    columns: [name, country, { name: 'URL', field: 'url', as: 'mono', priority: 2, card: 'sub' }, since],
    paused: [],
    removed: ['Documents of its country are checked without it.'],
  },
]

/** State in a word, of what the record says of itself. */
export function stateOf(record: Readonly<Record<string, unknown>>): string | null {
  if (record.enabled === false) return 'paused'
  if (typeof record.status === 'string') return record.status
  return typeof record.is_up === 'boolean' ? (record.is_up ? 'up' : 'down') : null
}
