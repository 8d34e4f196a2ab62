// The same program by Pamoja: another key, and one line for the address, after the key is set.
const sgMail = require('@sendgrid/mail')
sgMail.setApiKey(process.env.PAMOJA_KEY)
sgMail.client.setDefaultRequest('baseUrl', `${process.env.PAMOJA_URL}/compat/sendgrid/`)

sgMail
  .send({ to: 'amina@shop.example', from: process.env.PAMOJA_FROM, subject: 'Habari', text: 'Karibu' })
  .then(([{ statusCode, headers }]) => console.log(statusCode, headers['x-message-id']))
