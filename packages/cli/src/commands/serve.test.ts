import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION, readCommit } from '@sluice/service/build';
import { until } from '@sluice/testkit';
import { Command } from 'commander';
import { afterAll, expect, test, vi } from 'vitest';
import { addServiceOptions } from '../flags/options.ts';
import { findUnknownVariables } from '../flags/unknownVariables.ts';
import { EXIT_CODES } from '../terminal/errors.ts';
import { start } from '../terminal/scripted.test-only.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('serve warns about missing chains and misspelled variables', async () => {
  const env = { SLUICE_CHIAN: '0x1=https://node.example', SLUICE_PORT_4400_TCP: 'tcp://10.0.0.1' };
  const running = start(['serve', '--port', '0', '--data', join(folder, 'data')], { env });
  await until('the service is listening', () => running.stdout().includes('listening on'));
  await until('the warning is printed', () =>
    running.stderr().includes('No chain is configured. Add one'),
  );
  expect(running.stderr()).toContain(
    'Ignoring unknown variable SLUICE_CHIAN. Did you mean SLUICE_CHAIN?\n',
  );
  expect(running.stderr()).not.toContain('SLUICE_PORT_4400_TCP');
  // The key is on its own line, so that it can be copied.
  expect(running.stderr()).toMatch(/^API key, shown only once .+:\nsluice_\S+$/m);
  running.interrupt();
  expect(await running.ended).toMatchObject({ code: 0 });
});

test('serve logs the version, URL, roles and ledger at start and shutdown', async () => {
  const data = join(folder, 'places');
  const node = '0x1=http://me:hidden@127.0.0.1:9/';
  const written: string[] = [];
  const spy = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0);
  const running = start(['serve', '--port', '0', '--data', data, '--chain', node]);
  await until('the service is listening', () => running.stdout().includes('listening on'));
  const url = /listening on (\S+)/.exec(running.stdout())![1]!;
  running.interrupt();
  await running.ended;
  spy.mockRestore();
  const lines = written.filter((line) => / info (started|stopping|stopped) /.test(line));
  const place = `version=${VERSION} pid=${process.pid} url=${url} roles="ingest deliver api"`;
  expect(lines.map((line) => line.split(' info ')[1]!.trim())).toEqual([
    `started ${place} commit=${readCommit()} node=${process.versions.node} machine=${hostname()} ledger=${join(data, 'sluice.db')} chains=0x1`,
    `stopping ${place} inFlight=0`,
    expect.stringMatching(/^stopped .* ms=\d+$/),
  ]);
  expect(lines[2]).toContain(place);
  expect(written.join('')).not.toContain('hidden');
});

test('serve reports a failed start even after a signal', async () => {
  const words = ['serve', '--port', '0', '--data', join(folder, 'held')];
  const holder = start(words);
  await until('the service is listening', () => holder.stdout().includes('listening on'));
  const running = start(words);
  running.interrupt();
  expect(await running.ended).toMatchObject({ code: EXIT_CODES.notStarted });
  expect(running.stderr()).toContain('is in use by another sluice process');
  holder.interrupt();
  expect(await holder.ended).toMatchObject({ code: 0 });
});

test('each flag of serve has a variable, which is suggested for a typo', () => {
  const command = addServiceOptions(new Command(), 'data');
  const names = command.options.flatMap(({ envVar }) => envVar ?? []);
  expect(
    findUnknownVariables(command, Object.fromEntries(names.map((name) => [name, '']))),
  ).toEqual([]);
  for (const name of names) {
    const at = 8;
    const slips = [
      name.slice(0, at) + name.slice(at + 1),
      `${name.slice(0, at)}X${name.slice(at)}`,
      name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2),
    ].filter((slip) => !names.includes(slip));
    for (const slip of slips) {
      const [said] = findUnknownVariables(command, { [slip]: '' });
      expect(said).toMatch(
        new RegExp(`^Ignoring unknown variable ${slip}\\. Did you mean SLUICE_`),
      );
    }
  }
});
