// The same program by Pamoja: another key, and two lines for the address.
const client = require('africastalking')({ apiKey: process.env.PAMOJA_KEY, username: 'shop' })
const door = `${process.env.PAMOJA_URL}/compat/africastalking`
Object.assign(require('africastalking/lib/common'), { SMS_URL: `${door}/version1/messaging`, VOICE_URL: door })

client.SMS.send({ to: '+254711000001', from: 'SHOP', message: 'Habari' }).then(({ SMSMessageData }) =>
  console.log(SMSMessageData.Message),
)
