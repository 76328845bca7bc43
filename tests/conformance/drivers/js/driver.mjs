// The driver: JSON-RPC 2.0, one JSON object per line.
import { createInterface } from 'node:readline'
import { LATEST, Refused, catalog } from './file.mjs'
import { migrate } from './migrator.mjs'
import { Raw, resolve, snapshot, transcript } from './reader.mjs'
import { validate } from './validator.mjs'

const METHODS = {
  initialize ({ protocol }) {
    if (protocol.min > 1 || protocol.max < 1) throw new Refused('this driver speaks protocol 1', -32001)
    const storage = { min: catalog.oldest, max: LATEST }
    return { protocol: 1, name: 'adf-js', version: '1', language: 'javascript', storage, capabilities: ['reader', 'validator', 'migrator'] }
  },
  'file/validate': validate,
  'file/migrate': migrate,
  'transcript/read': transcript,
  'audit/read': snapshot,
  'audit/resolve': resolve,
  shutdown: () => ({})
}

function answer ({ id, method, params }) {
  const name = JSON.stringify(id)
  try {
    if (!Object.hasOwn(METHODS, method)) throw new Refused(`no method ${method}`, -32601)
    const result = METHODS[method](params)
    return `{"jsonrpc":"2.0","id":${name},"result":${result instanceof Raw ? result.text : JSON.stringify(result)}}`
  } catch (error) {
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: error instanceof Refused ? error.code : -32000, message: String(error.message) } })
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.method !== undefined && message.id !== undefined) process.stdout.write(answer(message) + '\n')
  if (message.method === 'shutdown') break
}
process.stdin.destroy()
