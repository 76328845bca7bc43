// Judging a file: what breaks a MUST of the format is an error, what is only unusual is not looked at.
import { LATEST, catalog, columns, load, loopOf, tables, unpacked, version, withCopy } from './file.mjs'

const LOOP = /^[a-z0-9][a-z0-9_-]{0,31}$/
const PROHIBITED = ['sys_update_config', 'loop_manage', 'sys_create_adf']
const REQUIRED = { text: ['text'], thinking: ['thinking'], tool_use: ['id', 'name'], tool_result: ['tool_use_id', 'content'] }
const REFERENCE = { inbox_message: 'id', outbox_message: 'id', file: 'path' }
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const parsed = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function validate ({ path }) {
  const findings = []
  const wrong = (message) => findings.push({ severity: 'error', message })
  try {
    withCopy(path, (db) => judge(db, wrong))
  } catch (error) {
    wrong(String(error.message))
  }
  return { valid: findings.length === 0, findings }
}

function judge (db, wrong) {
  const known = Math.min(Math.max(version(db), catalog.oldest), LATEST)
  const sound = db.pragma('integrity_check', { simple: true })
  if (sound !== 'ok') wrong(sound)
  const present = tables(db)
  for (const [name, urn] of Object.entries(catalog.versions[known].tables)) {
    if (!present.has(name)) throw new Error(`table ${name} is missing`)
    table(db, name, load(urn), wrong)
  }
  config(db, known, wrong)
  transcript(db, known, wrong)
  audit(db, known, wrong)
  rest(db, wrong)
}

function table (db, name, schema, wrong) {
  const names = columns(db, name)
  for (const [column, { 'x-adf-column': declared }] of Object.entries(schema.properties)) {
    if (!names.includes(column)) throw new Error(`${name}.${column} is missing`)
    if (declared.notNull && db.prepare(`SELECT 1 FROM "${name}" WHERE "${column}" IS NULL`).get()) wrong(`${name}.${column} is NULL`)
  }
  const sql = db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').pluck().get(name)
  if (schema['x-adf-table'].autoincrement && !/AUTOINCREMENT/i.test(sql)) wrong(`${name} can give numbers twice`)
}

function config (db, known, wrong) {
  const found = parsed(db.prepare('SELECT config_json FROM adf_config').pluck().get())
  if (!isObject(found)) return wrong('the configuration is no JSON object')
  if (!isObject(found.model)) wrong('the configuration has no model')
  const loops = known >= 29 ? found.loops ?? [] : []
  if (loops.length > 16) wrong('more than 16 loops')
  const names = loops.map((loop) => String(loop.name).toLowerCase())
  if (new Set(names).size < names.length) wrong('two loops of one name')
  for (const { name, goal = '', tools = [] } of loops) {
    if (typeof name !== 'string' || !LOOP.test(name) || /\n/.test(name) || name === 'main') wrong(`${JSON.stringify(name)} is no name of a loop`)
    if ([...goal].length > 4000) wrong('a goal of more than 4000 characters')
    if (tools.length > 64) wrong('a loop with more than 64 tools')
    if (tools.some((tool) => PROHIBITED.includes(tool))) wrong('a loop with a tool that no loop may have')
  }
}

function transcript (db, known, wrong) {
  for (const row of db.prepare('SELECT * FROM adf_loop').iterate()) {
    if (row.role !== 'user' && row.role !== 'assistant') wrong(`row ${row.seq}: role ${row.role}`)
    if (known >= 29 && !LOOP.test(row.loop ?? '')) wrong(`row ${row.seq}: loop ${row.loop}`)
    const content = parsed(row.content_json)
    if (!Array.isArray(content)) wrong(`row ${row.seq}: content is no JSON array`)
    else if (!content.every(block)) wrong(`row ${row.seq}: a content block is not complete`)
  }
}

const block = (one) => isObject(one) && typeof one.type === 'string' && (REQUIRED[one.type] ?? []).every((key) => key in one)

function audit (db, known, wrong) {
  const mark = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'adf_loop'").pluck().get() ?? 0
  for (const row of db.prepare('SELECT * FROM adf_audit').iterate()) {
    let text
    let value
    try {
      text = unpacked(row.data)
      value = JSON.parse(text)
    } catch {
      wrong(`snapshot ${row.id} is no brotli stream of JSON`)
      continue
    }
    const loop = loopOf(row.source)
    if (loop !== undefined && !Array.isArray(value)) wrong(`snapshot ${row.id} is no list`)
    if (row.entry_count !== (Array.isArray(value) ? value.length : 1)) wrong(`snapshot ${row.id}: the count is wrong`)
    if (row.size_bytes !== text.length && row.size_bytes !== Buffer.byteLength(text)) wrong(`snapshot ${row.id}: the size is wrong`)
    if (known >= 28) locators(row, loop, value, mark, wrong)
  }
}

function locators (row, loop, value, mark, wrong) {
  const ranged = row.start_seq !== null
  if (loop === undefined) {
    if (ranged) wrong(`snapshot ${row.id} has a range`)
    const key = REFERENCE[row.source]
    if (key !== undefined && row.ref !== null && row.ref !== value[key]) wrong(`snapshot ${row.id}: the reference is wrong`)
    return
  }
  const seqs = Array.isArray(value) ? value.map((one) => one.seq) : []
  if (row.source !== 'loop' && !ranged && seqs.length > 0) wrong(`snapshot ${row.id} has no range`)
  if (ranged && row.start_seq > row.end_seq) wrong(`snapshot ${row.id}: the range is inverted`)
  if (ranged && seqs.some((seq) => seq < row.start_seq || seq > row.end_seq)) wrong(`snapshot ${row.id}: an entry is outside its range`)
  if (new Set(seqs).size < seqs.length) wrong(`snapshot ${row.id} holds a seq twice`)
  if (seqs.some((seq) => seq > mark)) wrong(`snapshot ${row.id} holds a seq that was never given`)
}

function rest (db, wrong) {
  const protections = db.prepare("SELECT path FROM adf_files WHERE protection NOT IN ('none', 'no_delete', 'read_only')").pluck().all()
  if (protections.length > 0) wrong(`unknown protection of ${protections[0]}`)
  for (const { id, schedule_json: schedule, scope } of db.prepare('SELECT * FROM adf_timers').iterate()) {
    if (!isObject(parsed(schedule))) wrong(`timer ${id}: the schedule is no JSON object`)
    if (!Array.isArray(parsed(scope))) wrong(`timer ${id}: the scope is no JSON array`)
  }
  const attached = db.prepare('SELECT id, attachments FROM adf_inbox WHERE attachments IS NOT NULL')
  for (const { id, attachments } of attached.iterate()) if (parsed(attachments) === undefined) wrong(`message ${id}: attachments are not JSON`)
}
