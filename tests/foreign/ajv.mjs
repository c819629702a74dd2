// ajv in strict mode over records and events: each line of the input is {"schema": file, "body": message}.
// Argument: the folder of the schemas. Prints the errors of each line that is not valid, one line each.
import { readdirSync, readFileSync } from 'node:fs'
import Ajv from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const folder = process.argv[2]
const ajv = new Ajv({ strict: true, allErrors: true })
formats(ajv)
const compiled = {}
for (const file of readdirSync(folder, { recursive: true })) {
  if (file.endsWith('.json')) compiled[file] = ajv.compile(JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')))
}
let valid = 0
for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const { schema, body } = JSON.parse(line)
  if (compiled[schema](body)) valid += 1
  else console.log(`${schema}: ${ajv.errorsText(compiled[schema].errors)}: ${line.slice(0, 400)}`)
}
console.log(`${Object.keys(compiled).length} schemas, ${valid} valid`)
