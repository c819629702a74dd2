// The CloudEvents SDK for JavaScript: publishes in both modes, and reads the records as CloudEvents.
// Arguments: the URL of the server, the prefix of the installation. Prints the records that it read as JSON.
import { connect, headers } from '@nats-io/transport-node'
import { CloudEvent, HTTP } from 'cloudevents'

const [url, prefix] = process.argv.slice(2)
const nc = await connect({ servers: url })
const feed = nc.subscribe(`${prefix}.transition.>`, { max: 2 })

async function publish(pack, cluster) {
  const data = { phase: 'Running', message: `adopted by ${cluster} \u8d26` }
  const event = new CloudEvent({ source: '/cloudevents.js', type: 'cluster.adopt', data, traceparent: `00-${cluster}` })
  const message = pack(event)
  const own = headers()
  for (const [name, value] of Object.entries(message.headers)) own.set(name, String(value))
  await nc.request(`${prefix}.events.${cluster}.cluster.adopt`, message.body, { headers: own, timeout: 5000 })
}
await publish(HTTP.binary, 'binary')
await publish(HTTP.structured, 'structured')

const records = []
for await (const message of feed) {
  const event = HTTP.toEvent({ headers: { 'content-type': message.headers.get('content-type') }, body: message.string() })
  event.validate()
  records.push({ type: event.type, source: event.source, time: event.time, data: event.data })
}
console.log(JSON.stringify(records))
await nc.close()
