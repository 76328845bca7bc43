// Files as the format has them: opened from a private copy, so that nothing beside the original changes.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import Database from 'better-sqlite3'

const SCHEMAS = process.env.ADF_SCHEMAS
export const load = (urn) => JSON.parse(readFileSync(join(SCHEMAS, ...urn.replace('urn:adf-format:', '').split(':')) + '.json', 'utf8'))
export const catalog = load('urn:adf-format:catalog')
export const LATEST = catalog.latest

export class Refused extends Error {
  constructor (message, code = -32000) {
    super(message)
    this.code = code
  }
}

/** Call `use` with a copy of the file, its log included; the copy goes away afterwards. */
export function withCopy (path, use) {
  const place = mkdtempSync(join(tmpdir(), 'adf-js-'))
  let db
  try {
    const copy = join(place, 'copy.adf')
    copyFileSync(path, copy)
    if (existsSync(path + '-wal')) copyFileSync(path + '-wal', copy + '-wal')
    db = new Database(copy)
    db.prepare('SELECT count(*) FROM sqlite_master').get()
    return use(db)
  } finally {
    db?.close()
    rmSync(place, { recursive: true, force: true })
  }
}

export const tables = (db) => new Set(db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all())
export const columns = (db, table) => db.prepare(`SELECT name FROM pragma_table_info('${table}')`).pluck().all()

export function version (db) {
  if (!tables(db).has('adf_meta')) throw new Refused('no .adf file: adf_meta is missing')
  const text = db.prepare("SELECT value FROM adf_meta WHERE key = 'adf_schema_version'").pluck().get()
  if (!/^[0-9]+$/.test(text ?? '')) throw new Refused(`storage version ${text} is no number`)
  return Number(text)
}

/** The JSON text of a snapshot; throws if the stream is damaged. */
export const unpacked = (data) => new TextDecoder('utf-8', { fatal: true }).decode(brotliDecompressSync(data))
export const loopOf = (source) => source === 'loop' ? 'main' : source.startsWith('loop:') ? source.slice(5) : undefined
