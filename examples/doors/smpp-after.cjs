// The same program by Pamoja: another host and port, and the system id and password of an SMPP credential.
const smpp = require('smpp')
const { SYSTEM_ID, PASSWORD } = process.env
const session = smpp.connect({ host: process.env.PAMOJA_HOST, port: process.env.PAMOJA_ESME_PORT })

session.on('connect', () =>
  session.bind_transceiver({ system_id: SYSTEM_ID, password: PASSWORD }, ({ command_status }) => {
    if (command_status !== 0) throw new Error(`the bind was refused with ${command_status}`)
    const text = { source_addr: 'SHOP', source_addr_ton: 5, destination_addr: '254711000001', short_message: 'Habari' }
    session.submit_sm({ ...text, registered_delivery: 1 }, ({ message_id }) => console.log(message_id))
  }),
)
session.on('deliver_sm', (pdu) => {
  session.send(pdu.response())
  console.log(/ stat:\w+/.exec(String(pdu.short_message.message))?.[0])
  session.unbind(() => session.close())
})
