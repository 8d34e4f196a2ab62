// SPDX-License-Identifier: Apache-2.0
// Forms of identity: a check, a code, a risk, who is blocked, and erasing a person.
import {
  identityBlock,
  identityEraseSubject,
  identityScoreRisk,
  identitySendMedia,
  identitySendOtp,
  identityVerifyId,
  identityVerifyOtp,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { say } from '../../kit/dialogs.tsx'
import { type FormOf, formOf } from '../../kit/form.tsx'
import { words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

const documentTypes = [
  ...['national_id', 'passport', 'drivers_license', 'voter_id', 'residence_permit', 'refugee_id', 'nin_slip'],
  'proof_of_address',
]

/** Pictures are sent first, each by itself, and the check names them. */
export const checkSomebody: FormOf = {
  title: 'Start identity check',
  action: 'Check',
  fields: [
    { name: 'document_type', label: 'Document', among: documentTypes },
    { name: 'country', label: 'Country', isRequired: true, hint: 'Two letters, such as KE' },
    { name: 'front', label: 'Front of the document', as: 'file', isRequired: true },
    { name: 'back', label: 'Back of the document', as: 'file' },
    { name: 'selfie', label: 'Picture of the face', as: 'file' },
    { name: 'first_name', label: 'First name' },
    { name: 'last_name', label: 'Last name' },
    { name: 'reference', label: 'Reference', hint: 'Your own id' },
    { name: 'consent', label: 'Consent given', as: 'flag' },
  ],
  initial: { document_type: 'national_id', consent: 'yes' },
  async make({ document_type = 'national_id', country = '', reference, consent, ...rest }, files) {
    const [front, back, selfie] = await Promise.all(['front', 'back', 'selfie'].map((name) => sent(files[name])))
    const { first_name, last_name } = rest
    const { verification_id } = await identityVerifyId(api, {
      body: {
        ...{ document_type, country, reference, document_front: front ?? '', document_back: back, selfie },
        subject: { first_name, last_name },
        ...(consent === 'yes' ? { consent: { granted: true } } : {}),
      },
    })
    go(`/identity/${verification_id}`)
    return null
  },
}

async function sent(file: File | undefined): Promise<string | undefined> {
  if (!file) return undefined
  const body = new FormData()
  body.append('file', file)
  return (await identitySendMedia(api, { body })).media_id
}

export const sendCode: FormOf = formOf(identitySendOtp, {
  title: 'Send a code',
  action: 'Send',
  fields: [
    { name: 'phone', label: 'Phone', isRequired: true },
    { name: 'channel', label: 'Channel', among: ['sms', 'voice', 'messenger', 'email'] },
    { name: 'email', label: 'Email' },
    { name: 'purpose', label: 'Purpose' },
  ],
})

export const checkCode: FormOf = formOf(identityVerifyOtp, {
  title: 'Check a code',
  action: 'Check',
  fields: [
    { name: 'phone', label: 'Phone', isRequired: true },
    { name: 'code', label: 'Code', isRequired: true },
    { name: 'purpose', label: 'Purpose' },
  ],
})

export const scoreRisk: FormOf = formOf(identityScoreRisk, {
  title: 'Score risk',
  action: 'Score risk',
  fields: [
    { name: 'phone', label: 'Phone' },
    { name: 'email', label: 'Email' },
    { name: 'ip', label: 'IP address' },
    { name: 'event', label: 'Action', among: ['signup', 'login', 'payout', 'sim_change', 'custom'] },
  ],
  done: ({ risk_score, risk_level }) =>
    say(t('Risk: {what}, {count} of 100', { what: words(risk_level), count: risk_score })),
})

export const erasePerson: FormOf = {
  title: 'Erase a person',
  action: 'Erase for good',
  fields: [{ name: 'external_id', label: 'External id', isRequired: true }],
  async make({ external_id = '' }) {
    await identityEraseSubject(api, { external_id })
    return null
  },
}

export const blockPerson: FormOf = formOf(identityBlock, {
  title: 'Block a person',
  action: 'Block',
  fields: [
    { name: 'kind', label: 'Kind', among: ['document', 'phone', 'email', 'device', 'external_id'] },
    { name: 'value', label: 'Value', isRequired: true },
    { name: 'reason', label: 'Reason' },
  ],
  initial: { kind: 'document' },
})
