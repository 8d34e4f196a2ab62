// The same program by Pamoja: another address and another password.
const text = { username: 'shop', password: process.env.PAMOJA_KEY, from: 'SHOP', to: '254711000001', text: 'Habari' }
const answer = await fetch(`${process.env.PAMOJA_URL}/compat/kannel/cgi-bin/sendsms?${new URLSearchParams(text)}`)
console.log(answer.status, await answer.text())
