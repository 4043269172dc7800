import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeBuild } from '@sluice/service/build';
import { lockFolder } from '@sluice/service/folderLock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { announceDevService } from './connection/contexts.ts';
import { openDevFolder } from './dev/devFolder.ts';
import { sluice, start } from './terminal/scripted.test-only.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
const KEY = 'key-0123456789abcdef';
/**
 * A service that responds to every request like the session check: with 204 for `KEY`, otherwise
 * with 401.
 */
const service = createServer((request, response) => {
  response.writeHead(request.headers['x-api-key'] === KEY ? 204 : 401).end();
});
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(() => {
  service.close();
  rmSync(folder, { recursive: true });
});

test('--version prints the version of the package and the commit', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  const stdout = `${describeBuild()}\n`;
  expect(stdout).toMatch(/^\S+ \(([0-9a-f]{12}|unknown)\)\n$/);
  expect(stdout.startsWith(`${version} (`)).toBe(true);
  for (const args of [['--version'], ['--quiet', '-V']]) {
    expect(await sluice(args)).toEqual({ code: 0, stdout, stderr: '' });
  }
});

test('sluice prints the first screen without a command and with --help', async () => {
  const { code, stdout } = await sluice(['--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: sluice [\s\S]*Common commands:\n {2}dev /);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect((await sluice([])).stdout).toBe(stdout);
});

test('sluice help <command> prints the same as <command> --help', async () => {
  const { stdout } = await sluice(['help', 'chains', 'resume']);
  expect(stdout).toContain('--from <block>');
  expect((await sluice(['chains', 'resume', '--help'])).stdout).toBe(stdout);
});

test.each([
  [
    ['chains', 'list', '--jsno'],
    "unknown option '--jsno'",
    'Did you mean --json?',
    'npm run -s sluice -- chains list',
  ],
  [['chians'], "unknown command 'chians'", 'Did you mean chains?', 'npm run -s sluice --'],
  [['chains', 'lst'], "unknown command 'lst'", 'Did you mean list?', 'npm run -s sluice -- chains'],
])('%j is rejected with a suggestion and exit code 2', async (args, message, fix, help) => {
  expect(await sluice(args)).toEqual({
    code: 2,
    stdout: '',
    stderr: `error[usage]: ${message}\n  fix: ${fix} See ${help} --help\n  docs: npm run -s sluice -- docs usage\n`,
  });
});

test('sluice rejects missing and extra arguments', async () => {
  expect(await sluice(['chains', 'resume'])).toMatchObject({ code: 2 });
  expect(await sluice(['chains', 'list', 'all'])).toMatchObject({ code: 2 });
  expect((await sluice(['chains'])).stderr).toBe(
    'error[usage]: Missing subcommand\n  fix: see npm run -s sluice -- chains --help\n  docs: npm run -s sluice -- docs usage\n',
  );
});

test('the exit code is 6 for an unreachable service, 124 for a slow one', async () => {
  const gone = ['--api-url', 'http://127.0.0.1:9', '--api-key', KEY];
  const { code, stderr } = await sluice(['chains', 'list', ...gone]);
  expect(code).toBe(6);
  expect(stderr).toMatch(/^error\[network_error\]: /);
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const slow = ['--api-url', `http://127.0.0.1:${port}`, '--api-key', KEY, '--timeout', '20ms'];
  expect(await sluice(['chains', 'list', ...slow])).toMatchObject({ code: 124 });
  const running = start(['chains', 'list', ...slow.slice(0, 4)]);
  running.interrupt();
  expect(await running.ended).toEqual({ code: 130, stdout: '', stderr: '' });
  silent.closeAllConnections();
  silent.close();
});

test('docs prints the pages, a page, a section', async () => {
  expect((await sluice(['docs'])).stdout).toMatch(/^# Sluice\n[\s\S]*\(quickstart\.md\)/);
  const page = await sluice(['docs', 'reorgs']);
  expect(page).toMatchObject({ code: 0, stderr: 'docs/reorgs.md\n' });
  expect(page.stdout).toMatch(/^# /);
  const found = await sluice(['docs', 'exit codes', '--json']);
  expect(JSON.parse(found.stdout)).toEqual([
    { page: 'cli', heading: 'Exit codes', text: expect.stringContaining('| 124, 130 |') as string },
  ]);
  const missing = await sluice(['docs', 'no such thing']);
  expect([missing.code, missing.stdout]).toEqual([4, '']);
  expect(missing.stderr).toContain('list the pages: npm run -s sluice -- docs');
});

test.each([
  ['private chain', 'nodes', 'Devnets and private chains'],
  ['devnet reset', 'nodes', 'Devnets and private chains'],
  ['finality', 'reorgs', 'Finality'],
  ['cost', 'nodes', 'Cost in requests'],
  ['disk full', 'operations', 'Disk full'],
  ['missed block', 'concepts', 'Missed blocks: coverage, backfill, replay'],
  ['ip allowlist', 'security', 'IP allowlists and client certificates'],
  ['ERC20', 'triggers', 'Triggers and balances'],
  ['postgres', 'operations', 'PostgreSQL'],
])('docs finds %j in the words that people use', async (term, page, heading) => {
  const { stdout } = await sluice(['docs', term, '--json']);
  expect((JSON.parse(stdout) as unknown[])[0]).toMatchObject({ page, heading });
});

test('--debug prints each request but never the key', async () => {
  const { stderr } = await sluice(['whoami', '--debug', '--api-url', url, '--api-key', KEY]);
  expect(stderr).toMatch(/^GET http:\S+\/sluice\/session 204 \d+ ms/);
  expect(stderr).not.toContain(KEY);
});

test.each([
  [['ch'], 'chains'],
  [['streams', 'de'], 'delete'],
  [['chains', 'resume', '0x1', '--fr'], '--from'],
  [['tail', '--s'], '--state\n--stream\n--since'],
  [['completion', 'b'], 'bash'],
  [['listen', '--output', 'c'], 'compact'],
])('%j is completed', async (words, found) => {
  expect(await sluice(['complete', '--', ...words])).toEqual({
    code: 0,
    stdout: `${found}\n`,
    stderr: '',
  });
});

const SHELLS: [shell: string, args: string[], script: string, completed: string][] = [
  [
    'bash',
    ['--norc', '-c'],
    `sluice() { "$NODE" -C @sluice/source "$MAIN" "$@"; }
source <(sluice completion bash)
COMP_WORDS=(sluice streams de) COMP_CWORD=2 && _sluice
complete -p sluice && echo "\${COMPREPLY[@]}"`,
    'complete -o default -F _sluice sluice\ndelete\n',
  ],
  [
    'zsh',
    ['-fc'],
    `sluice() { "$NODE" -C @sluice/source "$MAIN" "$@"; }
autoload -Uz compinit && compinit -u -D
source <(sluice completion zsh)
compadd() { print -r -- "\${(P)@[-1]}" }
print -r -- "$_comps[sluice]"
words=(sluice streams de) CURRENT=3 _sluice`,
    '_sluice\ndelete\n',
  ],
  [
    'fish',
    ['--no-config', '-c'],
    `function sluice; $NODE -C @sluice/source $MAIN $argv; end
sluice completion fish | source
complete -C 'sluice chai'
complete -C 'sluice streams de'`,
    'chains\ndelete\n',
  ],
];

/** Programs that are not installed. `npm test` reports them, and fails without them in CI. */
const missing = process.env['TESTS_WITHOUT']?.split(' ') ?? [];

test.each(SHELLS.filter(([shell]) => !missing.includes(shell)))(
  '%s completes with its script',
  (shell, args, script, completed) => {
    const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
    const env = { ...process.env, NODE: process.execPath, MAIN };
    const run = spawnSync(shell, [...args, script], { env, encoding: 'utf8' });
    expect(run.error).toBeUndefined();
    expect(run).toMatchObject({ stdout: completed, stderr: '' });
  },
);

test('completion rejects an unknown shell', async () => {
  expect(await sluice(['completion', 'csh'])).toMatchObject({ code: 2 });
});

describe('service selection', () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'config') };
  const cwd = join(folder);
  const file = join(folder, 'config', 'sluice', 'contexts.json');

  test('without a service the exit code is 6, without a key 3, both with a fix', async () => {
    for (const command of [
      ['chains', 'list'],
      ['dry-run', '--stream', 'a', '--blocks', '1'],
    ]) {
      const nowhere = await sluice(command, { env, cwd });
      expect([nowhere.code, nowhere.stdout]).toEqual([6, '']);
      expect(nowhere.stderr).toMatch(
        /^error\[no_service\]: .*\n {2}fix: .*npm run -s sluice -- login/,
      );
      const noKey = await sluice([...command, '--api-url', url], { env, cwd });
      expect([noKey.code, noKey.stdout]).toEqual([3, '']);
      expect(noKey.stderr).toMatch(
        /^error\[not_signed_in\]: .*\n {2}fix: sign in with npm run -s sluice -- login/,
      );
    }
    expect((await sluice(['whoami'], { env, cwd })).code).toBe(6);
  });

  test('invalid options are reported before a service is needed', async () => {
    for (const args of [
      ['dry-run'],
      ['dry-run', '--blocks', '1'],
      ['dry-run', '--stream', 'a'],
      ['dry-run', '-f', 'nothing.yaml', '--blocks', '1'],
      ['dry-run', '--stream', 'a', '--blocks', '9..1'],
      ['dry-run', '--stream', 'a', '--blocks', '1', '--expect', 'some'],
    ]) {
      const { code, stderr } = await sluice(args, { env, cwd });
      expect([code, stderr.split(':', 1)], args.join(' ')).toEqual([
        2,
        [expect.stringMatching(/^error\[(usage|invalid_file)\]$/)],
      ]);
    }
  });

  test('a rejected key is not saved', async () => {
    const { code } = await sluice(['login', '--api-url', url, '--api-key', 'wrong'], { env, cwd });
    expect(code).toBe(3);
    expect(() => statSync(file)).toThrow('ENOENT');
  });

  test('login prompts for missing values, but only on a terminal', async () => {
    expect(await sluice(['login'], { env, cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error[not_confirmed]') as string,
    });
    const asked = start(['login', '--api-url', url, '--context', 'here'], { env, cwd, tty: true });
    asked.type(`${KEY}\n`);
    const { code, stdout, stderr } = await asked.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Signed in to ${url} as context here\n` });
    expect(stderr).not.toContain(KEY);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('uses the current context, another by name, and flags before both', async () => {
    await sluice(['login', '--api-url', `${url}/`, '--api-key', KEY, '--context', 'other'], {
      env,
    });
    const whoami = async (...args: string[]) =>
      JSON.parse((await sluice(['whoami', '--json', ...args], { env, cwd })).stdout) as object;
    expect(await whoami()).toMatchObject({ source: 'context', name: 'other', apiKey: '…cdef' });
    expect(await whoami('--context', 'here')).toMatchObject({ name: 'here' });
    expect(await whoami('--api-url', url, '--api-key', KEY)).toMatchObject({ source: 'flags' });
    const used = await sluice(['context', 'use', 'here'], { env });
    expect(used.stdout).toBe(`Using here: ${url}\n`);
    expect((await sluice(['context', 'list'], { env })).stdout).toBe(
      `   NAME   SERVICE\n*  here   ${url}\n   other  ${url}/\n`,
    );
    expect(await sluice(['context', 'use', 'nobody'], { env })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('pass one of: here, other') as string,
    });
  });

  test('uses the dev service of the folder without a context, or by name', async () => {
    const data = join(cwd, '.sluice', 'dev');
    const { release } = openDevFolder({ data: data, databaseUrl: 'postgres://elsewhere' });
    const takeBack = announceDevService(data, { apiUrl: url, apiKey: KEY });
    const below = { cwd: join(cwd, 'deep', 'down') };
    expect((await sluice(['whoami'], { ...below, env })).stdout).toContain('from context here');
    const named = await sluice(['whoami', '--context', 'dev'], { ...below, env });
    expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining(url) as string });
    expect((await sluice(['whoami'], below)).stdout).toContain(`from sluice dev in ${cwd}`);
    const guessed = await sluice(['chains', 'list'], below);
    expect(guessed.stderr).toContain(`Using ${url}, the sluice dev of ${cwd}\n`);
    const chosen = await sluice(['chains', 'list'], { ...below, env });
    expect(chosen.stderr).toContain(
      `Using ${url}, the context in use; to use the sluice dev of this`,
    );
    takeBack();
    expect((await sluice(['whoami'], below)).code).toBe(6);
    release();
  });

  describe('a folder without a trusted sluice dev', () => {
    const asked: (string | undefined)[] = [];
    const trap = createServer((request, response) => {
      asked.push(String(request.headers['x-api-key']));
      response.end('{}');
    });
    let trapUrl: string;
    const data = join(cwd, 'cloned', '.sluice', 'dev');
    const file = join(data, 'service.json');
    const ours = { apiKey: KEY, pid: process.pid };
    beforeAll(async () => {
      await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
      trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
    });
    afterAll(() => trap.close());

    test.each<[string, object, { locked?: true; others?: true; link?: true; key?: true }]>([
      ['has no lock', {}, {}],
      ['names a process that is not running', { pid: 2 ** 22 + 1 }, { locked: true }],
      ['has an invalid process id', { pid: '1' }, { locked: true }],
      ['points to another host', { apiUrl: 'http://203.0.113.1:4400' }, { locked: true }],
      [
        'points to a name that looks local',
        { apiUrl: 'http://127.0.0.1.example' },
        { locked: true },
      ],
      ['is writable by others', {}, { locked: true, others: true }],
      ['is a symbolic link', {}, { locked: true, link: true }],
      ['conflicts with a given key', {}, { locked: true, key: true }],
    ])('%s', async (_, content, { locked, others, link, key }) => {
      rmSync(data, { recursive: true, force: true });
      mkdirSync(data, { recursive: true, mode: 0o700 });
      const lock = locked && lockFolder(data);
      const text = JSON.stringify({ apiUrl: trapUrl, ...ours, ...content });
      writeFileSync(link ? `${file}.real` : file, text, { mode: 0o600 });
      if (link) symlinkSync(`${file}.real`, file);
      if (others) chmodSync(file, 0o666);
      const { code, stderr } = await sluice(['streams', 'list', '--timeout', '300ms'], {
        cwd: join(cwd, 'cloned'),
        ...(key && { env: { SLUICE_API_KEY: 'the-key-of-this-user' } }),
      });
      expect(code).not.toBe(0);
      expect(stderr).not.toContain('the sluice dev of');
      expect(asked).toEqual([]);
      lock?.close();
    });

    test('a trusted sluice dev is used', async () => {
      rmSync(data, { recursive: true });
      mkdirSync(data, { recursive: true, mode: 0o700 });
      const lock = lockFolder(data);
      const takeBack = announceDevService(data, { apiUrl: trapUrl, apiKey: KEY });
      await sluice(['streams', 'list'], { cwd: join(cwd, 'cloned') });
      expect(asked).toEqual([KEY]);
      takeBack();
      lock.close();
    });
  });

  test('logout removes a context', async () => {
    expect((await sluice(['logout'], { env })).stdout).toBe('Removed context here\n');
    expect(await sluice(['logout'], { env })).toMatchObject({ code: 4 });
    expect(readFileSync(file, 'utf8')).not.toContain('"here"');
  });

  test('an invalid contexts file is named', async () => {
    writeFileSync(file, '{');
    expect(await sluice(['whoami'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${file} is not valid JSON`) as string,
    });
  });
});
