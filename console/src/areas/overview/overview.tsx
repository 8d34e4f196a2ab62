// SPDX-License-Identifier: Apache-2.0
// Overview: a first text for who has sent none, then what is in the wallet, how many requests there were, and the latest.
import { get, list, type Session } from '../../api.ts'
import { Card, PageHead, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, money } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import type { SmsMessage, Usage, WalletBalance } from '../../records.ts'
import { RequestList } from '../accounts/requests.tsx'
import { MessageList } from '../sms/messages.tsx'

export function Overview({ account }: { account: Session['account'] }) {
  const wallet = useLoad('wallet', () => get<WalletBalance>('/v1/wallet/balance'))
  const usage = useLoad('usage', () => get<Usage>('/v1/usage', { group_by: 'day' }))
  const latest = useLoad('latest', () => list<SmsMessage>('/v1/sms', { limit: '1' }))
  useLive('', () => {
    wallet.reload()
    latest.reload()
  })
  return (
    <div class="page">
      <PageHead title="Overview" note={account.name}>
        <Link to="/send" class="btn primary">
          Send a text
        </Link>
      </PageHead>
      {latest.value?.rows.length === 0 && (
        <div class="callout note">
          <p class="strong">Send your first text</p>
          <p>It costs play money and arrives on the phone beside this page.</p>
        </div>
      )}
      <div class="figures">
        <Figure name="To spend" value={wallet.value && money(wallet.value.available, wallet.value.currency)} />
        <Figure name="Set aside" value={wallet.value && money(wallet.value.held, wallet.value.currency)} />
        <Figure name="Requests, 30 days" value={usage.value && count(usage.value.requests)} />
        <Figure name="Refused, 30 days" value={usage.value && count(usage.value.errors)} />
      </div>
      {wallet.error && <Problem error={wallet.error} retry={wallet.reload} />}
      {usage.error && <Problem error={usage.error} retry={usage.reload} />}
      <Card title="Latest messages" action={<Link to="/messages">All messages</Link>}>
        <MessageList limit={5} />
      </Card>
      <Card title="Latest requests" action={<Link to="/requests">All requests</Link>}>
        <RequestList limit={5} />
      </Card>
    </div>
  )
}

function Figure({ name, value }: { name: string; value: string | null }) {
  return (
    <div class="figure">
      <p class="soft">{name}</p>
      <p class="big">{value ?? '…'}</p>
    </div>
  )
}
