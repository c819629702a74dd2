// nats.js on an installation whose feed is JSON: publishes, subscribes, reads last states, asks the status service.
// Arguments: the URL of the server, the prefix of the installation. Prints what it found as JSON.
import { connect } from '@nats-io/transport-node'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Svcm } from '@nats-io/services'

const [url, prefix] = process.argv.slice(2)
const nc = await connect({ servers: url })
const js = jetstream(nc), jsm = await jetstreamManager(nc)

const feed = nc.subscribe(`${prefix}.transition.>`, { max: 1 })
const event = { specversion: '1.0', id: '1', source: '/nats.js', type: 'cluster.adopt', data: { phase: 'Running' } }
const stored = await js.publish(`${prefix}.events.c1.cluster.adopt`, JSON.stringify(event), { msgID: '/nats.js 1' })
const heard = []
for await (const message of feed) {
  heard.push({ subject: message.subject, type: message.headers.get('content-type'), record: message.json() })
}

const stream = `${prefix.replaceAll('.', '_')}-STATE`
let last = null
while (last === null) {
  last = await jsm.direct.getMessage(stream, { last_by_subj: `${prefix}.state.*.cluster.c1` }).catch(() => null)
}
const states = {}
const consumer = await js.consumers.get(stream, { filter_subjects: `${prefix}.state.*.cluster.>` })
const { num_pending } = await consumer.info(true)
for await (const message of await consumer.fetch({ max_messages: num_pending, expires: 5000 })) {
  const { data } = message.json()
  states[data.id] = data.to.state
}

const services = []
for await (const service of await new Svcm(nc).client().info('phaseline')) {
  services.push({ name: service.name, endpoints: service.endpoints.map((one) => one.name) })
}
const reply = await nc.request(`${prefix}.status.emco_resource.none`, '{}', { timeout: 5000 })
const status = { code: reply.headers.get('Nats-Service-Error-Code'), type: reply.headers.get('content-type') }

console.log(JSON.stringify({ stored: stored.seq, heard, last: last.json(), states, services, status: { ...status, body: reply.json() } }))
await nc.close()
