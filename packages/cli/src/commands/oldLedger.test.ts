/** Tests that a service does not start on a ledger with an outdated schema. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { sluice } from '../terminal/scripted.test-only.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-old-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.each(['serve', 'dev'])(
  '%s rejects it, names the folder and suggests a fix',
  async (command) => {
    const data = join(folder, command);
    mkdirSync(data);
    const ledger = new DatabaseSync(join(data, 'sluice.db'));
    ledger.exec(`create table migrations (name text primary key, timestamp text not null);
    create table stream (id text primary key);
    insert into migrations values ('0001 ledger', '2026-11-01T00:00:00.000Z')`);
    ledger.close();
    const flags = command === 'dev' ? ['--no-open'] : ['--api-key', 'a_key_of_a_test_0123'];
    const { code, stderr } = await sluice([command, '--data', data, '--port', '0', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `error[invalid_file]: The ledger in ${data} was created by another build`,
    );
    expect(stderr).toMatch(
      /fix: Start the build that created it, or use an empty ledger: another data folder/,
    );
    expect(stderr).not.toContain('--debug');
  },
);
