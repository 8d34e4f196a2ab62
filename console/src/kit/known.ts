// SPDX-License-Identifier: Apache-2.0
// What forms offer to choose among: the records of an account, by their names.
import { events, scopes } from '#lists'
import {
  callcenterListAgents,
  callcenterListIvrs,
  callcenterListQueues,
  emailListDomains,
  emailListTemplates,
  messengerListTemplates,
  operatorListAccounts,
  operatorListPlans,
  paymentsMethods,
  billingPlans as plansOf,
  segmentsList,
  smsListNumbers,
  smsListSenderIds,
  ussdListMenus,
  voiceListNumbers,
  voiceListVoices,
} from '#sdk/operations.ts'
import { api } from '../api.ts'
import { t } from '../words.ts'
import type { Known, Named } from './choose.tsx'
import { money } from './words.ts'

/** One more than are offered as a list, so that it is known whether there are more. */
const query = { limit: 100 }

function among<T>(
  key: string,
  ask: () => Promise<{ readonly data: readonly T[] }>,
  named: (one: T) => string | readonly [sent: string, name: string],
): Known {
  return {
    key,
    load: async (): Promise<Named> =>
      Object.fromEntries(
        (await ask()).data.map((one) => {
          const told = named(one)
          return typeof told === 'string' ? [told, told] : told
        }),
      ),
  }
}

const nobody = () => ({ data: [] })

/** Names and numbers that a text may come from. */
export const senders: Known = {
  key: 'senders',
  async load() {
    const [names, numbers] = await Promise.all([
      smsListSenderIds(api, { query: { status: 'approved', ...query } }).catch(nobody),
      smsListNumbers(api, { query }).catch(nobody),
    ])
    const all = [...names.data.map(({ sender }) => sender), ...numbers.data.map(({ number }) => number)]
    return Object.fromEntries(all.map((one) => [one, one]))
  },
}

export const segments = among(
  'segments',
  () => segmentsList(api, { query }),
  ({ id, name }) => [id, name],
)

export const emailTemplates = among(
  'email templates',
  () => emailListTemplates(api, { query }),
  ({ name }) => name,
)
/** Addresses such as `hello@` one of the domains. */
export const emailSenders = among(
  'domains',
  () => emailListDomains(api, { query }),
  ({ domain }) => `hello@${domain}`,
)
export const emailDomains = among(
  'domains by name',
  () => emailListDomains(api, { query }),
  ({ domain }) => domain,
)
export const chatTemplates = among(
  'chat templates',
  () => messengerListTemplates(api, { query: { ...query, status: 'APPROVED' } }),
  ({ name, language }) => [`${name} ${language}`, `${name} (${language})`],
)
export const ussdMenus = among(
  'menus',
  () => ussdListMenus(api, { query }),
  ({ id, name }) => [id, name],
)
export const voiceNumbers = among(
  'voice numbers',
  () => voiceListNumbers(api, { query }),
  ({ number }) => number,
)
/** Banks that are paid out to, by their codes. */
export const banks: Known = {
  key: 'banks',
  async load() {
    const { data } = await paymentsMethods(api, { query: { direction: 'out', ...query } })
    return Object.fromEntries(data.flatMap((one) => one.banks ?? []).map(({ bank_code, name }) => [bank_code, name]))
  },
}
/** Languages that calls are spoken in. */
export const speech = among(
  'speech',
  () => voiceListVoices(api, { query }),
  ({ language }) => language,
)
export const queues = among(
  'queues',
  () => callcenterListQueues(api, { query }),
  ({ queue_id, name }) => [queue_id, name],
)
export const voiceMenus = among(
  'voice menus',
  () => callcenterListIvrs(api, { query }),
  ({ ivr_id, name }) => [ivr_id, name],
)
export const agents = among(
  'agents',
  () => callcenterListAgents(api, { query }),
  ({ agent_id, name }) => [agent_id, name ?? agent_id],
)
export const billingPlans = among(
  'plans',
  () => plansOf(api, { query }),
  ({ plan_id, name, amount, currency }) => [plan_id, `${name}, ${money(amount, currency)}`],
)
/** Events, and all of a kind such as `sms.*`. */
const eventKinds = [...new Set(events.map((name) => `${name.split('.')[0]}.*`))]
export const eventNames: Known = {
  key: 'events',
  load: async () => Object.fromEntries(events.map((one) => [one, one])),
}
export const kindsOfEvents: Named = {
  '*': t('All events'),
  ...Object.fromEntries(eventKinds.map((one) => [one, one])),
}
export const allScopes: Named = Object.fromEntries(scopes.map((one) => [one, one]))
export const accounts = among(
  'accounts',
  () => operatorListAccounts(api, { query }),
  ({ id, name }) => [id, name],
)
export const accountPlans = among(
  'account plans',
  () => operatorListPlans(api, { query }),
  ({ name }) => name,
)
export const emailEvents: Known = {
  key: 'events of email',
  load: async () => Object.fromEntries(events.filter((one) => one.startsWith('email.')).map((one) => [one, one])),
}
export const timeZones: Known = {
  key: 'time zones',
  load: async () => Object.fromEntries(Intl.supportedValuesOf('timeZone').map((one) => [one, one])),
}
