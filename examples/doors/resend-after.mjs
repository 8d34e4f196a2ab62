// The same program by Pamoja: another key and another address, which RESEND_BASE_URL gives too.
import { Resend } from 'resend'

const resend = new Resend(process.env.PAMOJA_KEY, { baseUrl: `${process.env.PAMOJA_URL}/compat/resend` })
const { data, error } = await resend.emails.send({
  ...{ from: process.env.PAMOJA_FROM, to: 'amina@shop.example' },
  ...{ subject: 'Habari', html: '<p>Karibu</p>' },
})
console.log(data?.id ?? error)
