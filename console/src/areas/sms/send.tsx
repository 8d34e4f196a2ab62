// SPDX-License-Identifier: Apache-2.0
// Sends a text: the form, what it will cost, and on to the message.
import { useState } from 'preact/hooks'
import { Card, PageHead } from '../../kit/kit.tsx'
import { go } from '../../place.tsx'
import { TextForm } from './text-form.tsx'

export function Send() {
  const [message, setMessage] = useState('')
  return (
    <div class="page narrow">
      <PageHead title="Send a text" />
      <Card title="A text to one number">
        <TextForm message={message} onMessage={setMessage} onSent={(id) => go(`/messages/${id}`)} />
      </Card>
    </div>
  )
}
