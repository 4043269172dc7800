/**
 * Tests that the workflows run commands that exist, with pinned actions and minimal permissions.
 */
import { accessSync, constants, existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = path.join(ROOT, '.github/workflows');

interface Step {
  uses?: string;
  run?: string;
}
interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { needs?: string; 'timeout-minutes'?: number; steps: Step[] }>;
}

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/**
 * Programs that runners or earlier steps install. Their arguments may name files that earlier steps
 * create.
 */
const ON_RUNNERS = new Set(['cosign', 'gh', 'git']);

/** Describes the problem of a step's command; undefined if the command can run. */
function findFault(command: string): string | undefined {
  const [program, ...args] = command.split(/\s+/);
  if (ON_RUNNERS.has(program!)) return undefined;
  const missing = args.find((arg) => /\/|\.ts$/.test(arg) && !existsSync(path.join(ROOT, arg)));
  if (missing !== undefined) return `${missing} does not exist`;
  if (program !== 'npm') return existsSync(path.join(ROOT, program!)) ? undefined : 'no such file';
  const [verb] = args;
  const script = verb === 'run' ? args[1]! : verb!;
  return verb === 'ci' || script in scripts ? undefined : `package.json has no script ${script}`;
}

test.each(['npm run nothing', 'npm nothing', '.ci/nothing', 'npm test -- test/story/no.test.ts'])(
  'the check reports that %s cannot run',
  (command) => expect(findFault(command)).toMatch(/does not exist|no such file|has no script/),
);

describe.each(readdirSync(FOLDER))('the workflow %s', (name) => {
  const text = read(`.github/workflows/${name}`);
  const { permissions, jobs } = parse(text) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test('runs commands that exist', () => {
    const commands = steps.flatMap(({ run }) => run?.trim().split('\n') ?? []);
    expect(commands.flatMap((each) => findFault(each) ?? [])).toEqual([]);
  });

  test('pins every action to a commit, and names its version', () => {
    expect(steps.some(({ uses }) => uses !== undefined)).toBe(true);
    for (const line of text.split('\n').filter((each) => each.includes('uses:'))) {
      expect(line).toMatch(/uses: [\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  test('only reads by default, and every job has a time limit', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });
});

test('CI runs the command that a change must pass', () => {
  accessSync(path.join(ROOT, '.ci/run'), constants.X_OK);
  const { jobs } = parse(read('.github/workflows/ci.yml')) as Workflow;
  expect(jobs['linux']!.steps.map(({ run }) => run)).toContain('.ci/run');
});

test('a release runs the command that a change must pass, and rehearses first', () => {
  const { jobs } = parse(read('.github/workflows/release.yml')) as Workflow;
  const commands = (name: string) => jobs[name]!.steps.flatMap(({ run }) => run ?? []);
  expect(commands('check').slice(1)).toEqual(['.ci/run', 'npm run release -- --dry-run']);
  expect(commands('packages')).toContain('npm run release');
  expect([jobs['image']!.needs, jobs['packages']!.needs]).toEqual(['check', 'image']);
});

test('Dependabot updates every folder with a lockfile', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; directories?: string[] }[];
  };
  const locked = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((file) => path.basename(file) === 'package-lock.json')
    .map((file) => `/${path.dirname(file)}`.replace('/.', '/'))
    .filter((folder) => !/node_modules|^\/\.|^\/packages\/.*\/dist/.test(folder));
  const npm = updates.find((each) => each['package-ecosystem'] === 'npm')!;
  expect(npm.directories!.toSorted()).toEqual(locked.toSorted());
});
