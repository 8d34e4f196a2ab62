// SPDX-License-Identifier: Apache-2.0
// Settings of signing in to the console.
import { formed, optional, secret, text } from '../../config/setting.ts'

export const accountSettings = {
  PAMOJA_OIDC_ISSUER: formed(
    'OpenID Connect provider for sign-in to the console, such as https://login.example.com.',
    (given) => URL.canParse(given) && /^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1)[:/]/.test(`${given}/`),
    'must be the https: address of the issuer, as its discovery document names it',
  ),
  PAMOJA_OIDC_CLIENT_ID: optional('Client id of this installation at the identity provider.'),
  PAMOJA_OIDC_CLIENT_SECRET: secret(optional('Secret of that client.')),
  PAMOJA_OIDC_NAME: text('your company', 'Name of the identity provider on the sign-in page.'),
} as const
