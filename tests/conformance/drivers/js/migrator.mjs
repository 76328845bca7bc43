// Bringing a file to a newer storage version: one step, one transaction.
import Database from 'better-sqlite3'
import { LATEST, Refused, catalog, columns, load, unpacked, version, withCopy } from './file.mjs'

const ICONS = [...'🤖🦾📡🔭🔬🧭🧲🔋💡🧬🔮⚡🦊🦉🐙🦅🐺🦡🐢🦫🐝🦋🐋🦈🐉🦑🦜🔨🪛🪚🧰📐🏹🔩🌋🗻🌊🌵🍄🌲🎯🎲🧩📦💎🧪📜🏺']
const REFERENCE = { inbox_message: 'id', outbox_message: 'id', file: 'path' }
const SEEDS = {
  'soul.md': '# Soul\n\n## Voice\n',
  'mind.md': '# Mind\n\n## Always\n\n## Pages\n',
  'mind/log.md': '# Mind Log\n'
}

export function migrate ({ path, to = LATEST }) {
  const from = withCopy(path, version)
  if (from > LATEST) throw new Refused(`storage version ${from} is newer than ${LATEST}`)
  if (to < from || to > LATEST) throw new Refused(`from ${from} there is no way to ${to}`)
  if (to === from) return { from, to }
  const db = new Database(path)
  try {
    const journal = db.pragma('journal_mode', { simple: true })
    for (let next = from + 1; next <= to; next++) {
      db.transaction(() => {
        STEPS[next]?.(db)
        db.prepare("UPDATE adf_meta SET value = ? WHERE key = 'adf_schema_version'").run(String(next))
      }).immediate()
    }
    if (journal === 'wal') db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
  return { from, to }
}

function edit (db, change) {
  const config = JSON.parse(db.prepare('SELECT config_json FROM adf_config').pluck().get())
  change(config)
  db.prepare('UPDATE adf_config SET config_json = ?').run(JSON.stringify(config))
}

function declared (table, at) {
  return load(catalog.versions[at].tables[table])
}

function add (db, table, column, at) {
  if (!columns(db, table).includes(column)) db.exec(`ALTER TABLE "${table}" ADD COLUMN ${line(column, declared(table, at).properties[column]['x-adf-column'])}`)
}

function line (name, { type, notNull, default: value, primaryKey, check }, autoincrement) {
  const parts = [`"${name}"`, type]
  if (primaryKey) parts.push(autoincrement ? 'PRIMARY KEY AUTOINCREMENT' : 'PRIMARY KEY')
  if (notNull) parts.push('NOT NULL')
  if (value !== undefined) parts.push(`DEFAULT ${value}`)
  if (check !== undefined) parts.push(`CHECK (${check})`)
  return parts.join(' ')
}

function create (db, table, at) {
  const schema = declared(table, at)
  const { autoincrement } = schema['x-adf-table']
  const lines = Object.entries(schema.properties).map(([name, one]) => line(name, one['x-adf-column'], autoincrement))
  db.exec(`CREATE TABLE "${table}" (${lines.join(', ')})`)
  index(db, table, at)
}

function index (db, table, at) {
  const schema = declared(table, at)
  for (const { name, columns: keys } of schema['x-adf-table'].indexes ?? []) {
    const quoted = keys.map((key) => key in schema.properties ? `"${key}"` : key)
    db.exec(`CREATE INDEX IF NOT EXISTS "${name}" ON "${table}" (${quoted.join(', ')})`)
  }
}

function seed (db, path) {
  const now = new Date().toISOString()
  const text = SEEDS[path]
  const sql = "INSERT OR IGNORE INTO adf_files (path, content, mime_type, size, protection, authorized, created_at, updated_at) VALUES (?, ?, 'text/markdown', ?, 'no_delete', 0, ?, ?)"
  db.prepare(sql).run(path, Buffer.from(text), Buffer.byteLength(text), now, now)
}

function renameDocument (db) {
  const has = (path) => db.prepare('SELECT 1 FROM adf_files WHERE path = ?').get(path) !== undefined
  if (has('document.md') && !has('README.md')) db.exec("UPDATE adf_files SET path = 'README.md' WHERE path = 'document.md'")
  edit(db, (config) => {
    for (const { filter } of config.triggers?.on_file_change?.targets ?? []) if (filter?.watch === 'document.*') filter.watch = 'README.*'
  })
}

function limits (db) {
  edit(db, ({ model, context, limits }) => {
    delete model?.max_loop_messages
    delete context?.max_loop_messages
    delete limits?.max_loop_rows
    delete limits?.max_daily_budget_usd
    if (model && !model.reasoning && model.thinking_budget > 0) {
      model.reasoning = { enabled: true, max_tokens: model.thinking_budget }
      delete model.thinking_budget
    }
  })
}

function attestations (db) {
  create(db, 'adf_attestations', 24)
  const text = db.prepare("SELECT value FROM adf_meta WHERE key = 'adf_attestations'").pluck().get()
  let found
  try {
    found = JSON.parse(text)
  } catch {
    return
  }
  if (!Array.isArray(found)) return
  const insert = db.prepare('INSERT INTO adf_attestations (issuer, subject, role, issued_at, expires_at, scope, signature, raw_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  for (const one of found) {
    if (one.issuer && one.subject && one.signature) insert.run(one.issuer, one.subject, one.role ?? '', one.issued_at ?? '', one.expires_at ?? null, one.scope ?? null, one.signature, JSON.stringify(one))
  }
  db.exec("DELETE FROM adf_meta WHERE key = 'adf_attestations'")
}

function located (source, data) {
  try {
    const value = JSON.parse(unpacked(data))
    if (source === 'loop' && Array.isArray(value) && value.length > 0) {
      const [first, last] = [value[0]?.seq, value.at(-1)?.seq]
      return Number.isInteger(first) && Number.isInteger(last) ? [first, last, null] : [null, null, null]
    }
    const ref = Array.isArray(value) ? undefined : value?.[REFERENCE[source]]
    return [null, null, typeof ref === 'string' && ref !== '' ? ref : null]
  } catch {
    return [null, null, null]
  }
}

function audit (db) {
  if (columns(db, 'adf_audit').includes('start_at')) {
    db.exec('DROP INDEX IF EXISTS idx_adf_audit_source')
    db.exec('ALTER TABLE adf_audit RENAME TO audit_before_28')
    create(db, 'adf_audit', 28)
    db.exec('INSERT INTO adf_audit (id, source, entry_count, size_bytes, data, created_at) SELECT id, source, entry_count, size_bytes, data, created_at FROM audit_before_28')
    db.exec('DROP TABLE audit_before_28')
    const update = db.prepare('UPDATE adf_audit SET start_seq = ?, end_seq = ?, ref = ? WHERE id = ?')
    for (const { id, source, data } of db.prepare('SELECT id, source, data FROM adf_audit').all()) update.run(...located(source, data), id)
  }
  index(db, 'adf_audit', 28)
}

function minds (db) {
  const mind = db.prepare("SELECT content FROM adf_files WHERE path = 'mind.md'").pluck().get()
  if (mind !== undefined && mind.toString().trim() === '') {
    const text = Buffer.from(SEEDS['mind.md'])
    db.prepare("UPDATE adf_files SET content = ?, size = ?, updated_at = ? WHERE path = 'mind.md'").run(text, text.length, new Date().toISOString())
  }
  seed(db, 'mind/log.md')
}

function icon (id) {
  let state = 0
  for (let at = 0; at < id.length; at++) state = (Math.imul(state, 31) + id.charCodeAt(at)) | 0
  return ICONS[Math.abs(state) % ICONS.length]
}

const STEPS = {
  22: renameDocument,
  23: limits,
  24: attestations,
  25: (db) => seed(db, 'soul.md'),
  26: (db) => add(db, 'adf_timers', 'expired', 26),
  27: (db) => add(db, 'adf_tasks', 'approval_meta', 27),
  28: (db) => {
    add(db, 'adf_loop', 'ord', 28)
    audit(db)
    minds(db)
  },
  29: (db) => {
    for (const table of ['adf_loop', 'adf_timers', 'adf_tasks', 'adf_logs']) {
      add(db, table, 'loop', 29)
      index(db, table, 29)
    }
  },
  30: (db) => edit(db, (config) => {
    const off = { inbox_hints: false, context_warning: false, idle_reminder: false, mesh_updates: false }
    if (config.bare_prompt === true) config.context = { ...config.context, dynamic_instructions: off }
  }),
  31: (db) => edit(db, (config) => {
    if (!config.icon && typeof config.id === 'string' && config.id !== '') config.icon = icon(config.id)
  }),
  32: (db) => index(db, 'adf_outbox', 32)
}
