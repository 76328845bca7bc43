// Reading: JSON that stands in the file is passed on as text, since numbers may be larger than JavaScript holds.
import { Refused, columns, loopOf, tables, unpacked, version, withCopy } from './file.mjs'

/** Marks text that is JSON already. */
export class Raw {
  constructor (text) {
    this.text = text
  }
}

function entry (row) {
  const parts = [`"seq":${row.seq}`, `"role":${JSON.stringify(row.role)}`, `"content_json":${row.content_json}`]
  if (row.model !== null) parts.push(`"model":${JSON.stringify(row.model)}`)
  if (row.created_at !== null) parts.push(`"created_at":${row.created_at}`)
  if (row.ord !== null && row.ord !== undefined) parts.push(`"ord":${row.ord}`)
  return `{${parts.join()}}`
}

function live (db, loop, where = '1', ...values) {
  if (!tables(db).has('adf_loop')) return []
  const names = columns(db, 'adf_loop')
  if (!names.includes('loop') && loop !== 'main') return []
  const mine = names.includes('loop') ? 'loop = ?' : "? = 'main'"
  const key = names.includes('ord') ? 'COALESCE(ord, seq), seq' : 'seq'
  return db.prepare(`SELECT * FROM adf_loop WHERE ${mine} AND ${where} ORDER BY ${key}`).all(loop, ...values)
}

export const transcript = ({ path, loop }) => withCopy(path, (db) => {
  version(db)
  return new Raw(`{"entries":[${live(db, loop).map(entry).join()}]}`)
})

export const snapshot = ({ path, id }) => withCopy(path, (db) => {
  version(db)
  const row = db.prepare('SELECT data FROM adf_audit WHERE id = ?').get(id)
  if (row === undefined) throw new Refused(`no snapshot ${id}`)
  const text = unpacked(row.data)
  return new Raw(`{"entries":${Array.isArray(JSON.parse(text)) ? text : `[${text}]`}}`)
})

export const resolve = ({ path, loop, seq }) => withCopy(path, (db) => {
  version(db)
  const [row] = live(db, loop, 'seq = ?', seq)
  if (row !== undefined) return new Raw(`{"where":"loop","entry":${entry(row)}}`)
  for (const { source, data } of db.prepare('SELECT source, data FROM adf_audit ORDER BY id DESC').all()) {
    if (loopOf(source) !== loop) continue
    try {
      const found = JSON.parse(unpacked(data)).find((one) => one.seq === seq)
      if (found !== undefined) return { where: 'audit', entry: found }
    } catch {
      continue // damaged: another one may hold it
    }
  }
  return { where: 'missing' }
})
