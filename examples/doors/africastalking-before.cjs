// A text by Africa's Talking, as it was.
const client = require('africastalking')({ apiKey: process.env.AT_KEY, username: 'shop' })

client.SMS.send({ to: '+254711000001', from: 'SHOP', message: 'Habari' }).then(({ SMSMessageData }) =>
  console.log(SMSMessageData.Message),
)
