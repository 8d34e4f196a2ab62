// A text by Twilio, as it was.
const client = require('twilio')(process.env.TWILIO_ACCOUNT_SID, process.env.TWILIO_AUTH_TOKEN)

client.messages
  .create({ to: '+254711000001', from: 'SHOP', body: 'Habari' })
  .then(({ sid, status }) => console.log(sid, status))
