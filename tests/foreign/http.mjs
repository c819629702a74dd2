// The CloudEvents SDK for JavaScript: sends to the HTTP server in both modes, and reads the records as CloudEvents.
// Argument: the URL of the server. Prints the records that it read as JSON.
import { CloudEvent, HTTP } from 'cloudevents'

const [url] = process.argv.slice(2)
let last = 0
for (const [cluster, pack] of [['binary', HTTP.binary], ['structured', HTTP.structured]]) {
  const event = new CloudEvent({
    source: '/cloudevents.js', type: 'cluster.adopt', subject: `cluster/${cluster}`, traceparent: `00-${cluster}`,
    data: { phase: 'Running', message: `adopted by ${cluster} \u8d26` },
  })
  const { headers, body } = pack(event)
  const answer = await fetch(`${url}/v1/events`, { method: 'POST', headers: { ...headers, prefer: 'wait=60' }, body })
  if (!answer.ok) throw new Error(await answer.text())
  last = (await answer.json()).last
}
const accept = 'application/cloudevents-batch+json'
const batch = await (await fetch(`${url}/v1/transitions?from=1&to=${last}`, { headers: { accept } })).text()
const records = HTTP.toEvent({ headers: { 'content-type': accept }, body: batch })
for (const record of records) record.validate()
console.log(JSON.stringify(records.map(({ type, source, data }) => ({ type, source, data }))))
