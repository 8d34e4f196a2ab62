// SPDX-License-Identifier: Apache-2.0
// Links by which anybody can pay, one of them with its address and code, and the cards that payers saved.
import {
  paymentsDeactivateLink,
  paymentsDeleteCard,
  paymentsGetLink,
  paymentsListCards,
  paymentsListLinks,
} from '#sdk/operations.ts'
import type { PaymentLink } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { CopyText, type Deed } from '../../kit/detail.tsx'
import { Card, FiguresRow } from '../../kit/kit.tsx'
import { amount, created, type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { count, money, words } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { newLink } from './forms.ts'

export const links: ListOf = {
  title: 'Payment links',
  icon: 'link',
  path: paymentsListLinks.at(),
  keyField: 'payment_link_id',
  open: ['/links/', 'payment_link_id'],
  live: 'payment.',
  sorts: true,
  deeds: [{ name: 'Create payment link', icon: 'plus', isMain: true, scope: 'payments:write', form: newLink }],
  columns: [
    created,
    { name: 'Description', field: 'description', priority: 1, card: 'title', grows: true },
    { name: 'Paid', field: 'uses', as: 'count', priority: 2, card: 'sub' },
    { name: 'Collected', field: 'amount_collected', as: 'money', priority: 2 },
    { name: 'Until', field: 'expires_at', as: 'time', priority: 4 },
    state,
    amount,
  ],
  filters: [{ name: 'status', label: 'State', among: ['active', 'inactive', 'expired', 'completed'] }],
  none: {
    title: 'No payment links',
    advice: 'Payment links collect money without code: in a chat, an email or on a poster.',
  },
}

export const LinkPage = recordPage<PaymentLink>({
  in: ['/links', 'Payment links'],
  get: (id) => paymentsGetLink(api, { payment_link_id: id }),
  at: (id) => paymentsGetLink.at({ payment_link_id: id }),
  live: 'payment.',
  title: ({ description }) => description,
  note: ({ amount: wanted, currency }) => money(wanted, currency),
  state: ({ status }) => status,
  facts: [
    { name: 'Expires', field: 'expires_at', as: 'time' },
    { name: 'Maximum payments', field: 'max_uses', as: 'count' },
    { name: 'Redirect URL after payment', field: 'redirect_url' },
    { name: 'Provider', field: 'payment_methods', as: 'words' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: ({ payment_link_id, status, description }): Deed[] =>
    status === 'active'
      ? [
          {
            name: 'Deactivate',
            isDanger: true,
            scope: 'payments:write',
            asks: {
              title: t('Deactivate {name}?', { name: description }),
              consequences: [t('It can no longer be used for payments.'), t('Payments made are not refunded.')],
              action: t('Deactivate it'),
              keep: t('Keep it'),
            },
            run: () => paymentsDeactivateLink(api, { payment_link_id }),
          },
        ]
      : [],
  before: ({ url, uses, amount_collected, currency }) => (
    <>
      <Card title={t('Payment page')} action={<CopyText text={url} />}>
        <p>
          <a href={url} target="_blank" rel="noreferrer" class="mono line" dir="ltr">
            {url}
          </a>
        </p>
      </Card>
      <FiguresRow
        figures={[
          [t('Paid'), count(uses)],
          [t('Collected'), money(amount_collected, currency)],
        ]}
      />
    </>
  ),
})

export const cards: ListOf = {
  title: 'Saved cards',
  icon: 'card',
  path: paymentsListCards.at(),
  keyField: 'card_token',
  columns: [
    { ...created, isDay: false, name: 'Saved', priority: 3 },
    {
      ...{ name: 'Card', field: 'brand', priority: 1, card: 'title', grows: true },
      text: (brand, { last4 }) => `${words(textOf(brand))} ···· ${textOf(last4)}`,
    },
    { name: 'Customer', field: 'customer.name', orField: 'customer.email', priority: 2, card: 'sub' },
    {
      ...{ name: 'Expires', field: 'exp_year', priority: 2, card: 'end' },
      text: (year, { exp_month }) => `${textOf(exp_month)}/${textOf(year)}`,
    },
  ],
  filters: [{ name: 'customer_id', label: 'Customer' }],
  actions: [
    {
      name: 'Delete',
      isDanger: true,
      scope: 'payments:write',
      asks: ({ last4 }) => ({
        title: t('Delete the card ending in {name}?', { name: textOf(last4) }),
        consequences: [t('It can no longer be charged.'), t('Its subscriptions become past due.')],
        action: t('Delete'),
        keep: t('Keep it'),
      }),
      run: ({ card_token }) => paymentsDeleteCard(api, { card_token: textOf(card_token) }),
    },
  ],
  none: { title: 'No saved cards', advice: 'Cards saved by payers for later charges are listed here.' },
}
