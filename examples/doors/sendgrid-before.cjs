// A mail by SendGrid, as it was.
const sgMail = require('@sendgrid/mail')
sgMail.setApiKey(process.env.SENDGRID_API_KEY)

sgMail
  .send({ to: 'amina@shop.example', from: process.env.SENDGRID_FROM, subject: 'Habari', text: 'Karibu' })
  .then(([{ statusCode, headers }]) => console.log(statusCode, headers['x-message-id']))
