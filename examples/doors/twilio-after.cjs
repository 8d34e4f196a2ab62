// The same program by Pamoja: another account and key, and one line for the address.
const client = require('twilio')(process.env.PAMOJA_ACCOUNT_SID, process.env.PAMOJA_KEY)
for (const domain of [client.api, client.verify, client.lookups])
  domain.baseUrl = `${process.env.PAMOJA_URL}/compat/twilio`

client.messages
  .create({ to: '+254711000001', from: 'SHOP', body: 'Habari' })
  .then(({ sid, status }) => console.log(sid, status))
