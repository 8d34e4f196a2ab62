// SPDX-License-Identifier: Apache-2.0
// Settings of signing in to the console.
import { formed, optional, secret, text } from '../../config/setting.ts'

export const accountSettings = {
  PAMOJA_OIDC_ISSUER: formed(
    'Identity provider (OpenID Connect) that members may sign in to the console with, such as https://login.example.com.',
    (given) => URL.canParse(given) && /^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1)[:/]/.test(`${given}/`),
    'must be the https: address of the issuer, as its discovery document names it',
  ),
  PAMOJA_OIDC_CLIENT_ID: optional('Client id that the identity provider gave this installation.'),
  PAMOJA_OIDC_CLIENT_SECRET: secret(optional('Secret of that client.')),
  PAMOJA_OIDC_NAME: text('your company', 'Name of the identity provider on the sign-in page.'),
} as const
