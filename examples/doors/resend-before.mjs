// A mail by Resend, as it was.
import { Resend } from 'resend'

const resend = new Resend(process.env.RESEND_API_KEY)
const { data, error } = await resend.emails.send({
  ...{ from: process.env.RESEND_FROM, to: 'amina@shop.example' },
  ...{ subject: 'Habari', html: '<p>Karibu</p>' },
})
console.log(data?.id ?? error)
