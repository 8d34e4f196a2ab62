// A message by the WhatsApp Cloud API, as it was.
import { Client } from '@great-detail/whatsapp'

const client = new Client({ request: { headers: { Authorization: `Bearer ${process.env.CLOUD_API_TOKEN}` } } })
const message = { to: process.argv[2], type: 'text', text: { body: 'Habari' } }
const { messages } = await client.message.createMessage({ phoneNumberID: '123456', ...message }).json()
console.log(messages[0].id)
