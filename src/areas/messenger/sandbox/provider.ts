// SPDX-License-Identifier: Apache-2.0
// Keys of the simulated provider for a client of the account's own, such as a library for the Cloud API. The number is not the
// one that the platform sends from: what is done with it stays between the client and the simulator.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { type Route, read } from '../../../platform/api/route.ts'
import { graphVersion } from '../../../protocols/graph.ts'
import { simulatedMessenger } from '../carriers/sandbox.ts'

const Provider = Type.Object(
  {
    base_url: Type.String({ description: 'Address of the simulated provider, in place of https://graph.facebook.com' }),
    api_version: Type.String({ description: 'API version in its paths; others are accepted too' }),
    access_token: Type.String({ sensitive: true, description: 'Token sent as a bearer token' }),
    app_secret: Type.String({
      sensitive: true,
      description: 'Secret that signs calls to your webhook (header x-hub-signature-256)',
    }),
    phone_number_id: Type.String({ description: 'Number that your client sends from' }),
    business_account_id: Type.String({ description: 'Business of the number, for templates and subscribed_apps' }),
  },
  { title: 'SandboxMessengerProvider' },
)

const provider = read({
  method: 'GET',
  path: '/v1/sandbox/messenger/provider',
  operation: 'sandbox.messengerProvider',
  summary: 'Get keys for the simulated messenger provider',
  description:
    'Credentials for your own client of the Cloud API. The simulator listens on the machine of Pamoja, so the client must run there too. The credentials change when Pamoja restarts.',
  scope: 'sandbox:read',
  reply: { status: 200, schema: Provider },
  errors: ['PROVIDER_UNAVAILABLE'],
  handle: async (app, _input, { tenant }) => {
    const simulator = simulatedMessenger.of(app)
    if (simulator === null)
      throw new AppError('PROVIDER_UNAVAILABLE', 'this node runs no sandbox', { retryAfterSeconds: 1 })
    const { token, appSecret, phoneNumberId, businessId } = simulator.own(tenant.account)
    return {
      base_url: simulator.url,
      api_version: graphVersion,
      access_token: token,
      app_secret: appSecret,
      phone_number_id: phoneNumberId,
      business_account_id: businessId,
    }
  },
})

export const providerRoutes: readonly Route[] = [provider]
