// SPDX-License-Identifier: Apache-2.0
// Session settings behind a pooler. A pooler shares server connections and passes no startup parameters on, so what each
// session has to have is a setting of the database role.
import { StartError } from '../../kernel/start-error.ts'
import { type Database, sqlState } from '../db.ts'

/** Settings by name; null is the server's own default. */
export type RoleSettings = Readonly<Record<string, string | null>>

/** Makes the settings those of this role in this database. Sessions that the pooler opens from now on have them. */
export async function keepRoleSettings(db: Database, settings: RoleSettings): Promise<void> {
  const client = await db.connect()
  try {
    const { rows } = await client.query<{ role: string; database: string; kept: string[] }>(
      `select quote_ident(current_user) as role, quote_ident(current_database()) as database,
              coalesce((select setconfig from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
                         where d.datname = current_database() and s.setrole = (select oid from pg_roles where rolname = current_user)),
                       '{}') as kept`,
    )
    const { role, database, kept } = rows[0] ?? { role: '', database: '', kept: [] }
    for (const [name, value] of Object.entries(settings)) {
      const now = kept.find((setting) => setting.startsWith(`${name}=`))?.slice(name.length + 1) ?? null
      if (now === value) continue
      const change = value === null ? `reset ${name}` : `set ${name} = '${value}'`
      await client.query(`alter role ${role} in database ${database} ${change}`).catch((error: unknown) => {
        if (sqlState(error) !== '42501') throw error
        const sentence = `The database does not let ${role} keep ${name}, which a pooler does not pass on: run "alter role ${role} in database ${database} ${change}" there as its owner.`
        throw new StartError(sentence, { cause: error })
      })
    }
  } finally {
    await client.end()
  }
}
