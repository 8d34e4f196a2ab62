// SPDX-License-Identifier: Apache-2.0
// Keys of the simulated payment providers for a client of the account's own, such as a library for Daraja or MoMo.
import { Type } from 'typebox'
import { type Route, read } from '../../../platform/api/route.ts'
import { payers, simulatedAccounts } from '../gateway/simulated.ts'

const Providers = Type.Object(
  {
    providers: Type.Array(
      Type.Object({
        provider: Type.String({ description: 'Name of the provider, as in a payment, such as `mpesa`' }),
        base_url: Type.String({ description: 'Address of the simulated provider, in place of the real one' }),
        credentials: Type.Record(Type.String(), Type.String(), {
          sensitive: true,
          description: 'Credentials by name of the provider setting, such as `consumer_key`',
        }),
      }),
      { description: 'Every provider that this node simulates' },
    ),
  },
  { title: 'SandboxPaymentProviders' },
)

const providers = read({
  method: 'GET',
  path: '/v1/sandbox/payments/providers',
  operation: 'sandbox.paymentProviders',
  summary: 'Get keys for the simulated payment providers',
  description:
    'Credentials for your own client of Daraja, MoMo or another provider’s API. The simulators listen on the machine of Pamoja, so the client must run there too. The credentials change when Pamoja restarts.',
  scope: 'sandbox:read',
  reply: { status: 200, schema: Providers },
  handle: async (app) => ({
    providers: Object.entries(simulatedAccounts(app))
      .filter(([provider]) => provider !== payers)
      .map(([provider, { base_url = '', ...credentials }]) => ({ provider, base_url, credentials })),
  }),
})

export const providerSandboxRoutes: readonly Route[] = [providers]
