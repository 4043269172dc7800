/**
 * Renders the overlays in `deploy/kubernetes` with `kubectl kustomize`, and checks that the objects
 * are valid, restricted, and match the program. No cluster is needed.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { readRoles } from '@sluice/service';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { afterAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isProbe } from '../../packages/service/src/api/probes.ts';
import { DRAIN_S, flags, read, root, variables } from './deployed.ts';

const MODELS = [
  ...[ConfigMap, Deployment, HorizontalPodAutoscaler, Ingress, NetworkPolicy],
  ...[PodDisruptionBudget, PodMonitor, Service, StatefulSet],
];
const OVERLAYS = 'deploy/kubernetes/overlays';

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
}

const render = (folder: string): Manifest[] => {
  const text = execFileSync('kubectl', ['kustomize', folder], { cwd: root, encoding: 'utf8' });
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
};

/**
 * Returns the errors in a manifest. The schemas allow unknown fields, so the fields that the
 * validator did not read also count as errors.
 */
function validate(manifest: Manifest): string[] {
  const model = MODELS.find(
    ({ apiVersion, kind }) => apiVersion === manifest.apiVersion && kind === manifest.kind,
  );
  if (model === undefined) return [`no schema of ${manifest.apiVersion} ${manifest.kind}`];
  const unread = new Set<string>();
  const watch = <T extends object>(value: T, path: string): T => {
    for (const key of Object.keys(value)) unread.add(`${path}.${key}`);
    return new Proxy(value, {
      get(target, key) {
        const found = Reflect.get(target, key) as unknown;
        if (typeof key === 'symbol') return found;
        const place = `${path}.${key}`;
        unread.delete(place);
        return typeof found === 'object' && found !== null ? watch(found, place) : found;
      },
    });
  };
  try {
    model.prototype.validate.call(watch(manifest, manifest.kind));
  } catch (error) {
    return [`${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`];
  }
  return [...unread].map((place) => `unknown field ${place}`);
}

const ofKind = <M>(manifests: readonly Manifest[], model: { kind: string; prototype: M }): M[] =>
  manifests.filter(({ kind }) => kind === model.kind) as M[];

/** Returns the pod templates by the role of their process. */
function podsOf(manifests: readonly Manifest[]) {
  const workloads = [...ofKind(manifests, Deployment), ...ofKind(manifests, StatefulSet)];
  return new Map(
    workloads.map(({ spec }) => {
      const { metadata, spec: pod } = spec!.template;
      const [container, ...others] = pod!.containers;
      expect(others).toEqual([]);
      const role = container!.args!.at(-1)!;
      const labels = metadata!.labels!;
      expect(spec!.selector.matchLabels).toEqual(labels);
      return [role === 'serve' ? 'all' : role, { pod: pod!, container: container!, labels }];
    }),
  );
}

describe.each(['single', 'roles'])('the overlay %s', (overlay) => {
  const manifests = render(`${OVERLAYS}/${overlay}`);
  const pods = podsOf(manifests);
  const all = [...pods.values()];

  test('is valid', () => {
    expect(manifests.flatMap(validate)).toEqual([]);
  });

  test('starts all roles with known flags and variables', () => {
    expect(readRoles([...pods.keys()])).toEqual(readRoles([]));
    expect([...pods.keys()].includes('all')).toBe(overlay === 'single');
    const [config] = ofKind(manifests, ConfigMap);
    for (const { container } of all) {
      const [command, ...args] = container.args!;
      expect(command).toBe('serve');
      for (const flag of args.filter((arg) => arg.startsWith('--'))) expect(flags).toContain(flag);
      expect(container.envFrom![0]!.configMapRef!.name).toBe(config!.metadata!.name);
      for (const { name, valueFrom } of container.env!) {
        expect(variables).toContain(name);
        expect(valueFrom!.secretKeyRef!.key).toBe(name);
      }
    }
    for (const name of Object.keys(config!.data!)) expect(variables).toContain(name);
  });

  test('gives each process only the secrets that it needs', () => {
    const secretsOf = (role: string): string[] => {
      const { env, envFrom } = pods.get(role)!.container;
      const named = [
        ...env!.map(({ name, valueFrom }) => `${valueFrom!.secretKeyRef!.name}/${name}`),
        ...envFrom!.flatMap(({ secretRef }) => secretRef?.name ?? []),
      ];
      return named.toSorted();
    };
    const key = 'sluice-api/SLUICE_API_KEY';
    const master = 'sluice-ledger/SLUICE_MASTER_KEY';
    const shared = ['sluice-ledger/SLUICE_DATABASE_URL', master];
    expect(Object.fromEntries([...pods.keys()].map((role) => [role, secretsOf(role)]))).toEqual(
      overlay === 'single'
        ? { all: [key, master, 'sluice-nodes'] }
        : {
            api: [key, ...shared, 'sluice-nodes'],
            deliver: shared,
            ingest: [...shared, 'sluice-nodes'],
          },
    );
  });

  test('meets the restricted pod security standard, on a read-only file system', () => {
    for (const { pod, container } of all) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        // Otherwise, Kubernetes sets SLUICE_PORT to the URL of the Service `sluice`.
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      for (const name of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers']) {
        expect(pod).not.toHaveProperty(name);
      }
      for (const volume of pod.volumes!) expect(Object.keys(volume)).toEqual(['emptyDir', 'name']);
    }
  });

  test('has probes, allows a clean shutdown, and limits memory', () => {
    for (const { pod, container } of all) {
      const { lifecycle, livenessProbe, ports, readinessProbe, resources, startupProbe } =
        container;
      const stopS = lifecycle?.preStop?.sleep?.seconds ?? 0;
      expect(pod.terminationGracePeriodSeconds! - stopS).toBeGreaterThan(DRAIN_S);
      expect(ports).toEqual([{ name: 'http', containerPort: 4400 }]);
      expect(startupProbe!.httpGet).toEqual({ path: '/health', port: 'http' });
      expect(livenessProbe!.httpGet).toEqual({ path: '/health', port: 'http' });
      expect(readinessProbe!.httpGet).toEqual({ path: '/ready', port: 'http' });
      for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
        expect(isProbe(probe!.httpGet!.path!)).toBe(true);
      }
      expect(resources!.limits).toHaveProperty('memory');
    }
  });

  test('names an image of a registry by its digest, which cannot be pulled', () => {
    for (const { container } of all) {
      expect(container.image).toBe(`registry.example.com/sluice@sha256:${'0'.repeat(64)}`);
    }
  });

  test('is open only to its clients and Prometheus, and reaches only public addresses', () => {
    const policies = ofKind(manifests, NetworkPolicy);
    const shared = { 'app.kubernetes.io/name': 'sluice' };
    const fromOf = (name: string) => {
      const { spec } = policies.find(({ metadata }) => metadata!.name === name)!;
      const from = spec!.ingress?.flatMap(({ from: peers }) =>
        peers!.map(
          ({ namespaceSelector }) => Object.values(namespaceSelector?.matchLabels ?? {})[0],
        ),
      );
      return { pods: spec!.podSelector!.matchLabels, from };
    };
    expect(fromOf('sluice')).toEqual({ pods: shared, from: undefined });
    expect(fromOf('sluice-metrics')).toEqual({ pods: shared, from: ['monitoring'] });
    expect(fromOf('sluice-api')).toEqual(
      overlay === 'single'
        ? { pods: shared, from: [undefined, 'ingress'] }
        : { pods: pods.get('api')!.labels, from: ['ingress'] },
    );
    for (const { labels } of all) expect(labels).toMatchObject(shared);
    const { policyTypes, egress } = policies.find(
      ({ metadata }) => metadata!.name === 'sluice',
    )!.spec!;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    const publicly = egress!.flatMap(({ to = [] }) => to).flatMap(({ ipBlock }) => ipBlock ?? []);
    expect(publicly.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '2000::/3']);
    expect(publicly[0]!.except).toContain('169.254.0.0/16');
    const others = policies.filter(({ spec }) => spec!.policyTypes!.join() === 'Egress');
    expect(others.map(({ spec }) => spec!.egress)).toEqual(
      overlay === 'single' ? [] : [[{ ports: [{ protocol: 'TCP', port: 5432 }] }]],
    );
  });

  test('sends requests only to pods that serve the API', () => {
    const [service] = ofKind(manifests, Service);
    const { labels } = pods.get(overlay === 'single' ? 'all' : 'api')!;
    expect(service!.spec!.selector).toEqual(labels);
  });
});

describe('the overlay roles', () => {
  const manifests = render(`${OVERLAYS}/roles`);
  const pods = podsOf(manifests);
  const labelsOf = (role: string) => pods.get(role)!.labels;

  test('scales the roles that grow with the load, and keeps pods during disruptions', () => {
    const budgets = ofKind(manifests, PodDisruptionBudget);
    expect(budgets.map(({ spec }) => spec!.selector!.matchLabels)).toEqual(
      ['api', 'deliver', 'ingest'].map(labelsOf),
    );
    const scaled = ofKind(manifests, HorizontalPodAutoscaler).map(
      ({ spec }) => spec.scaleTargetRef.name,
    );
    expect(scaled).toEqual(['sluice-api', 'sluice-deliver']);
    // A number of replicas would undo what the autoscaler set, each time the manifest is applied.
    for (const { metadata, spec } of ofKind(manifests, Deployment)) {
      expect(spec!.replicas).toBe(scaled.includes(metadata!.name!) ? undefined : 2);
    }
  });

  test('serves one host through its Ingress, and is scraped with a key of its own', () => {
    const [ingress] = ofKind(manifests, Ingress);
    const [config] = ofKind(manifests, ConfigMap);
    const { rules, tls } = ingress!.spec!;
    const hosts = [config!.data!['SLUICE_ALLOW_HOST']];
    expect(rules!.map(({ host }) => host)).toEqual(hosts);
    expect(tls![0]!.hosts).toEqual(hosts);
    const [service] = ofKind(manifests, Service);
    expect(rules![0]!.http!.paths[0]!.backend.service).toEqual({
      name: service!.metadata!.name,
      port: { name: service!.spec!.ports![0]!.name },
    });
    const [monitor] = ofKind(manifests, PodMonitor);
    expect(monitor!.spec.podMetricsEndpoints![0]).toMatchObject({
      port: 'http',
      path: '/metrics',
      authorization: { credentials: { name: 'sluice-metrics', key: 'key' } },
    });
    for (const { labels } of pods.values()) {
      expect(labels).toMatchObject(monitor!.spec.selector.matchLabels!);
    }
    // The alert rules select the job by this name.
    expect(labelsOf('api')[monitor!.spec.jobLabel!]).toBe('sluice');
    expect(read('deploy/prometheus-rules.yaml')).toContain('job="sluice"');
  });
});

describe('the page', () => {
  const page = read('docs/operations.md');
  const folder = join(root, '.sluice', `kubernetes-${process.pid}`);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('sets the image and the namespace of an overlay', () => {
    const [, text] = /```yaml\n(namespace: [^`]*)```/.exec(page)!;
    const digest = 'ab'.repeat(32);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      text!.replace('…', digest).replace('deploy/', () => `${relative(folder, root)}/deploy/`),
    );
    const manifests = render(folder);
    for (const { container } of podsOf(manifests).values()) {
      expect(container.image).toBe(`registry.internal/sluice@sha256:${digest}`);
    }
    for (const { metadata } of manifests) expect(metadata).toMatchObject({ namespace: 'sluice' });
  });

  test('creates every Secret that the pods and the PodMonitor read', () => {
    const commands = page.replaceAll('\\\n', '').matchAll(/create secret generic (\S+)(.*)/g);
    const created = new Map(
      [...commands].map(([, name, rest]) => [
        name,
        [...rest!.matchAll(/--from-literal=(\w+)/g)].map(([, key]) => key),
      ]),
    );
    expect(Object.fromEntries(created)).toEqual({
      'sluice-ledger': ['SLUICE_MASTER_KEY', 'SLUICE_DATABASE_URL'],
      'sluice-nodes': ['SLUICE_CHAIN'],
      'sluice-api': ['SLUICE_API_KEY'],
      'sluice-metrics': ['key'],
    });
  });
});

test('a misspelled or an invalid field is found', () => {
  const service = render(`${OVERLAYS}/roles`).find(({ kind }) => kind === 'Service')!;
  const validated = (spec: object) => validate({ ...service, spec } as Manifest).join();
  expect(validated({ ports: [{ port: 80, targetport: 1 }] })).toBe(
    'unknown field Service.spec.ports.0.targetport',
  );
  expect(validated({ type: 7 })).toContain('/spec/type');
});
