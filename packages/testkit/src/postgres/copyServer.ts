import { appendFile, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { PostgresHome } from './postgresHome.ts';

/** Folders that are created empty, because a standby creates their files itself. */
const LEFT_EMPTY = new Set(['pg_wal', 'pg_replslot', 'pg_stat_tmp']);
/** Files that only a running server has, and that are not copied. */
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts']);

/**
 * Copies a running server's data to a new folder, from which a standby of that server can start.
 * Uses the low-level backup functions (PostgreSQL documentation, "Making a Base Backup Using the
 * Low Level API"), because packages of the server alone do not contain `pg_basebackup`.
 */
export async function copyServer(
  home: PostgresHome,
  {
    from,
    to,
    applicationName,
  }: { from: { data: string; url: string; port: number }; to: string; applicationName: string },
): Promise<void> {
  const client = new pg.Client(from.url);
  // A lost connection rejects the query. Without a listener, it would also end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query("select pg_backup_start('copy', fast => true)");
    await copyFolder(home, from.data, to);
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    );
    const place = `user=postgres host=127.0.0.1 port=${from.port} application_name=${applicationName}`;
    await appendFile(path.join(to, 'postgresql.auto.conf'), `primary_conninfo = '${place}'\n`);
    for (const [name, text] of [
      ['backup_label', rows[0]!.labelfile],
      ['standby.signal', ''],
    ] as const) {
      const file = path.join(to, name);
      await writeFile(file, text);
      await home.own(file);
    }
  } finally {
    await client.end();
  }
}

async function copyFolder(home: PostgresHome, from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  await home.own(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const copy = path.join(to, entry.name);
    if (entry.isDirectory()) {
      if (LEFT_EMPTY.has(entry.name)) {
        await mkdir(copy, { mode: 0o700 });
        await home.own(copy);
      } else await copyFolder(home, source, copy);
    } else if (!LEFT_OUT.has(entry.name)) await copyUnlessGone(home, source, copy);
  }
}

/** Copies a file, unless the server deletes it in the meantime; WAL then replays the deletion. */
async function copyUnlessGone(home: PostgresHome, source: string, copy: string): Promise<void> {
  try {
    await copyFile(source, copy);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await home.own(copy);
}
