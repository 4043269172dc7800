/**
 * `npm run release -- --dry-run`: builds and checks everything that a release publishes, in
 * `.sluice/release` or the folder `--out`. Without `--dry-run`, also publishes the packages; only
 * the release workflow may do that.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  checkTypes,
  findChangelogProblems,
  findFileProblems,
  findPlaceProblems,
  findVersionProblems,
  lintPackage,
  readManifests,
  readNotes,
} from './checks.ts';
import { packDeploy } from './deploy.ts';
import { type Packed, ROOT, npm, packCommand, packKit } from './packages.ts';
import { REPOSITORY_URL } from './repository.ts';

const DEFAULT_OUTPUT = join(ROOT, '.sluice', 'release');
let isDryRun = false;
let output = DEFAULT_OUTPUT;

try {
  const { values } = parseArgs({
    options: { 'dry-run': { type: 'boolean' }, out: { type: 'string' } },
  });
  isDryRun = values['dry-run'] === true;
  output = resolve(values.out ?? DEFAULT_OUTPUT);
  await release();
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function release(): Promise<void> {
  const manifests = readManifests();
  const { version } = manifests[0]!;
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  if (!isDryRun) {
    const pending = globSync('.changeset/*.md', { cwd: ROOT });
    stop([
      ...findPlaceProblems(process.env, version),
      ...pending.map((path) => `${path} is not in a version yet. Run npm run release:version.`),
    ]);
  }
  stop([...findVersionProblems(manifests), ...findChangelogProblems(changelog, version, isDryRun)]);
  report(`version ${version} in ${manifests.length} packages, the lockfile and the changelog`);

  execFileSync(process.execPath, ['scripts/run.mjs', 'build'], { cwd: ROOT, stdio: 'inherit' });
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const packages = [packKit(output), packCommand(output)];
  const deploy = packDeploy(output, version, join(output, 'sluice'), process.env['SLUICE_IMAGE']);
  writeFileSync(join(output, 'notes.md'), `${readNotes(changelog, version)}\n`);
  printTable(packages, deploy);

  stop(packages.flatMap(findFileProblems));
  report('README, license and third-party licenses in each tarball');
  stop((await Promise.all(packages.map(lintPackage))).flat());
  report('publint: no findings');
  stop(packages.flatMap(checkTypes));
  report('attw: no findings');
  stop(findBuildProblems(version));
  report('sluice --version reports the version and the commit');
  for (const each of packages) publish(each);

  if (REPOSITORY_URL === undefined) {
    report('repository, homepage and bugs: added by the release workflow');
  }
  report(`${isDryRun ? 'rehearsed' : 'published'} ${version}; files are in ${output}`);
}

/** Checks that the built command reports its version and the current commit. */
function findBuildProblems(version: string): string[] {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  const main = join(output, 'sluice', 'dist', 'main.js');
  const { stdout } = spawnSync(process.execPath, [main, '--version'], { encoding: 'utf8' });
  const expected = `${version} (${commit.slice(0, 12)})`;
  return stdout.trim() === expected
    ? []
    : [`sluice --version printed "${stdout.trim()}", not "${expected}".`];
}

/**
 * Publishes a package, or rehearses it. Skips a package that is already published, so that a failed
 * run can be repeated.
 */
function publish({ name, version, tarball }: Packed): void {
  if (!isDryRun && isPublished(name, version)) {
    report(`${name}@${version} was published before`);
    return;
  }
  const tag = version.includes('-') ? 'next' : 'latest';
  const mode = isDryRun ? ['--dry-run', '--offline'] : ['--provenance'];
  npm(output, 'publish', tarball, '--access', 'public', '--tag', tag, ...mode);
  report(`npm publish ${basename(tarball)} ${mode[0]}`);
}

function isPublished(name: string, version: string): boolean {
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return stdout.trim() === version;
}

function printTable(packages: readonly Packed[], deploy: string): void {
  const rows = [
    ['tarball', 'files', 'packed', 'unpacked'],
    ...packages.map(({ tarball, files, size, unpackedSize }) => [
      basename(tarball),
      String(files.length),
      kilobytes(size),
      kilobytes(unpackedSize),
    ]),
    [basename(deploy), '', kilobytes(statSync(deploy).size), ''],
  ];
  for (const [name = '', ...cells] of rows) {
    const line = name.padEnd(30) + cells.map((cell) => cell.padStart(12)).join('');
    process.stdout.write(`  ${line.trimEnd()}\n`);
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

function report(line: string): void {
  process.stdout.write(`✓ ${line}\n`);
}

/** Throws an error with all problems, if there are any. */
function stop(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
