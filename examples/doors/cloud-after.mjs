// The same program by Pamoja: another address and another key.
import { Client } from '@great-detail/whatsapp'

const client = new Client({
  prefixUrl: `${process.env.PAMOJA_URL}/compat/cloud`,
  request: { headers: { Authorization: `Bearer ${process.env.PAMOJA_KEY}` } },
})
const message = { to: process.argv[2], type: 'text', text: { body: 'Habari' } }
const { messages } = await client.message.createMessage({ phoneNumberID: '123456', ...message }).json()
console.log(messages[0].id)
