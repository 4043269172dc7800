/** Checks of a release. Each function returns the problems that it finds, as sentences. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { type Packed, ROOT } from './packages.ts';

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

export function readManifests(root = ROOT): Manifest[] {
  return globSync('packages/*/package.json', { cwd: root }).map(
    (path) => readJson(join(root, path)) as Manifest,
  );
}

/**
 * Compares the versions in all `package.json` files, including dependencies between the packages,
 * and in the lockfile.
 */
export function findVersionProblems(manifests: readonly Manifest[], root = ROOT): string[] {
  const version = manifests[0]?.version;
  const ours = new Set(manifests.map(({ name }) => name));
  const { packages } = readJson(join(root, 'package-lock.json')) as {
    packages: Record<string, Manifest>;
  };
  const locked = Object.values(packages).filter(({ name }) => ours.has(name));
  return [
    ...manifests.map((each) => ['package.json', each] as const),
    ...locked.map((each) => ['package-lock.json', each] as const),
  ].flatMap(([file, { name, version: own, dependencies, devDependencies }]) =>
    Object.entries({ ...dependencies, ...devDependencies, [name]: own })
      .filter(([dependency, its]) => ours.has(dependency) && its !== version)
      .map(([dependency, its]) => `${file} of ${name} has ${dependency} ${its}, not ${version}.`),
  );
}

/** Returns the section of a version in the changelog, without its heading. */
export function readNotes(changelog: string, version: string): string | undefined {
  const [, ...sections] = changelog.split(/^## /m);
  return sections
    .find((section) => section.startsWith(`${version} (`))
    ?.replace(/^.*\n+/, '')
    .trim();
}

/**
 * Checks that the changelog has a section for the version, with a date unless this is a rehearsal.
 */
export function findChangelogProblems(
  changelog: string,
  version: string,
  isRehearsal: boolean,
): string[] {
  if (!readNotes(changelog, version)) {
    return [`CHANGELOG.md has no section "## ${version} (date)". Run npm run release:version.`];
  }
  return isRehearsal ||
    new RegExp(`^## ${version} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm').test(changelog)
    ? []
    : [`The section ${version} of CHANGELOG.md has no date. Write it in place of "unreleased".`];
}

/**
 * Checks that a tarball has the files that every package needs, and no tests, hidden files or
 * `node_modules`.
 */
export function findFileProblems({ name, files }: Packed): string[] {
  const licenses = files.filter((path) => path.endsWith('THIRD-PARTY.md'));
  return [
    ...['package.json', 'README.md', 'LICENSE']
      .filter((path) => !files.includes(path))
      .map((path) => `${name} lacks ${path}.`),
    ...(licenses.length === 0 ? [`${name} lacks THIRD-PARTY.md.`] : []),
    ...files
      .filter((path) => /\.test\.|(^|\/)\.|node_modules/.test(path))
      .map((path) => `${name} contains ${path}.`),
  ];
}

/** Checks a tarball with publint, suggestions included. */
export async function lintPackage({ name, tarball }: Packed): Promise<string[]> {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  return messages.map((message) => `${name}: publint: ${formatMessage(message, pkg)}`);
}

/** Checks the types of a tarball with Are the Types Wrong. */
export function checkTypes({ name, tarball }: Packed): string[] {
  const program = fileURLToPath(
    new URL('dist/index.js', import.meta.resolve('@arethetypeswrong/cli/package.json')),
  );
  // The profile omits TypeScript's resolution for Node 10, which ignores "exports".
  const args = [program, tarball, '--profile', 'node16', '--no-color', '--no-emoji'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return status === 0 ? [] : [`${name}: attw exited with ${status}:\n${stdout}${stderr}`];
}

/**
 * Checks that this process is a GitHub workflow for the version's tag; only the release workflow
 * publishes.
 */
export function findPlaceProblems(env: NodeJS.ProcessEnv, version: string): string[] {
  const isTag = env['GITHUB_ACTIONS'] === 'true' && env['GITHUB_REF'] === `refs/tags/v${version}`;
  return isTag
    ? []
    : [
        `Only the release workflow publishes ${version}. ` +
          `Push the tag v${version} to start it, or pass --dry-run.`,
      ];
}
