// SPDX-License-Identifier: Apache-2.0
// What texts bring to the console.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'Texts', order: 10, to: '/messages', name: 'Messages', icon: 'message', scope: 'sms:read', key: 'm' },
    { group: 'Texts', order: 20, to: '/send', name: 'Send a text', icon: 'send', scope: 'sms:write' },
    { group: 'Texts', order: 60, to: '/senders', name: 'Senders', icon: 'tag', scope: 'sms:read' },
    { group: 'Texts', order: 22, to: '/send-many', name: 'Send to many', icon: 'megaphone', scope: 'sms:write' },
    { group: 'Texts', order: 24, to: '/sms-figures', name: 'SMS statistics', icon: 'chart', scope: 'sms:read' },
    { group: 'Texts', order: 62, to: '/numbers', name: 'Numbers', icon: 'hash', scope: 'sms:read' },
    { group: 'Texts', order: 64, to: '/opt-outs', name: 'Opt-outs', icon: 'ban', scope: 'sms:read' },
    { group: 'Texts', order: 66, to: '/sms-prices', name: 'Prices of texts', icon: 'coins', scope: 'sms:read' },
    { group: 'Build', order: 46, to: '/smpp', name: 'SMPP credentials', icon: 'key', scope: 'sms:read' },
  ],
  pages: {
    'send-many': page(() => import('./send-many.tsx').then(({ SendMany }) => SendMany)),
    'batches/*': page(() => import('./batch.tsx').then(({ SmsBatchPage }) => SmsBatchPage)),
    'sms-figures': page(() => import('./figures.tsx').then(({ SmsFigures }) => SmsFigures)),
    numbers: list(() => import('./numbers.tsx').then(({ numbers }) => numbers)),
    'numbers/*': page(() => import('./numbers.tsx').then(({ NumberPage }) => NumberPage)),
    'opt-outs': list(() => import('./lists.ts').then(({ optOuts }) => optOuts)),
    'sms-prices': list(() => import('./lists.ts').then(({ prices }) => prices)),
    smpp: list(() => import('./lists.ts').then(({ smppCredentials }) => smppCredentials)),
    'senders/*': page(() => import('./senders.tsx').then(({ SenderPage }) => SenderPage)),
    messages: list(() => import('./lists.ts').then(({ messages }) => messages)),
    'messages/*': page(() => import('./message.tsx').then(({ MessagePage }) => MessagePage)),
    send: page(() => import('./send.tsx').then(({ Send }) => Send)),
    senders: list(() => import('./lists.ts').then(({ senders }) => senders)),
  },
  records: { smb: '/batches', snd: '/senders', sms: '/messages', smi: '/messages' },
}
