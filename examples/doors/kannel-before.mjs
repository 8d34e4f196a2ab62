// A text by a Kannel, as it was.
const text = {
  username: 'shop',
  password: process.env.KANNEL_PASSWORD,
  from: 'SHOP',
  to: '254711000001',
  text: 'Habari',
}
const answer = await fetch(`http://localhost:13013/cgi-bin/sendsms?${new URLSearchParams(text)}`)
console.log(answer.status, await answer.text())
