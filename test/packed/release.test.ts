/**
 * Tests the release: its rehearsal succeeds, and each of its checks detects its kind of problem.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  checkTypes,
  findChangelogProblems,
  findFileProblems,
  findPlaceProblems,
  findVersionProblems,
  lintPackage,
  readManifests,
  readNotes,
} from '../../scripts/release/checks.ts';
import { withImage } from '../../scripts/release/deploy.ts';
import { type Packed, ROOT } from '../../scripts/release/packages.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'));
const output = join(folder, 'release');
afterAll(() => rmSync(folder, { recursive: true }));

const { version } = readManifests()[0]!;
const release = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(
    process.execPath,
    ['-C', '@sluice/source', 'scripts/release/release.ts', ...args],
    // No registry answers at this address.
    {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, npm_config_registry: 'http://127.0.0.1:9', ...env },
    },
  );

describe('the rehearsal', () => {
  let rehearsal: ReturnType<typeof release>;
  beforeAll(() => {
    rehearsal = release(['--dry-run', '--out', output], {
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'example/sluice',
      SLUICE_IMAGE: 'ghcr.io/example/sluice:1@sha256:abc',
    });
  });

  const read = (path: string): string => readFileSync(join(output, path), 'utf8');

  test('succeeds without a registry, and lists the tarballs', () => {
    const { status, stdout, stderr } = rehearsal;
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^ +sluice-kit-${version}\\.tgz +\\d+ +[\\d.]+ kB`, 'm'));
    expect(stdout).toMatch(new RegExp(`^ +sluice-${version}\\.tgz +\\d+ +[\\d.]+ kB`, 'm'));
    for (const name of ['sluice-kit', 'sluice']) {
      expect(stdout).toContain(`✓ npm publish ${name}-${version}.tgz --dry-run\n`);
    }
  });

  test('manifests name the repository, and contain nothing that only a checkout has', () => {
    for (const [name, directory] of [
      ['kit', 'packages/kit'],
      ['sluice', 'packages/cli'],
    ]) {
      const text = read(`${name}/package.json`);
      expect(JSON.parse(text)).toMatchObject({
        version,
        license: 'MIT',
        repository: { url: 'git+https://github.com/example/sluice.git', directory },
        bugs: 'https://github.com/example/sluice/issues',
        engines: { node: '>=20' },
      });
      expect(text).not.toMatch(/@sluice\/source|devDependencies|"private"|"scripts"|\{\}/);
    }
    // The command runs on the pinned Node.
    const { optionalDependencies } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    ) as {
      optionalDependencies: object;
    };
    expect(JSON.parse(read('sluice/package.json'))).toMatchObject({ optionalDependencies });
  });

  test('links of the READMEs are absolute', () => {
    for (const name of ['kit', 'sluice']) {
      for (const [, link] of read(`${name}/README.md`).matchAll(/\]\(([^)]+)\)/g)) {
        expect(link).toMatch(/^https:/);
      }
    }
    expect(read('sluice/README.md')).toContain(
      `](https://github.com/example/sluice/blob/v${version}/docs/quickstart.md)`,
    );
  });

  test('licenses of included code, fonts and styles are in the packages', () => {
    const noble = /^## @noble\/hashes [\d.]+ \(MIT\)\n\n.*\n\nCopyright \(c\) \d+ Paul Miller/m;
    expect(read('kit/dist/THIRD-PARTY.md')).toMatch(noble);
    for (const name of ['hono', 'kysely', 'pg', 'undici', 'viem', 'zod']) {
      expect(read('sluice/dist/THIRD-PARTY.md')).toMatch(
        new RegExp(`^## ${name} [\\d.]+ \\(`, 'm'),
      );
    }
    for (const name of ['react', 'react-dom', 'tailwindcss', '@fontsource-variable/geist']) {
      expect(read('sluice/console/THIRD-PARTY.md')).toMatch(
        new RegExp(`^## ${name} [\\d.]+ \\((MIT|OFL-1\\.1)\\)\n\n.*\\S`, 'm'),
      );
    }
  });

  test('the archive has deploy/ with the published image, and all licenses', () => {
    const archive = `sluice-deploy-${version}.tar.gz`;
    execFileSync('tar', ['-xzf', join(output, archive), '-C', folder]);
    const unpacked = join(folder, `sluice-deploy-${version}`);
    for (const file of ['LICENSE', 'THIRD-PARTY-dist.md', 'THIRD-PARTY-console.md']) {
      expect(readFileSync(join(unpacked, file), 'utf8')).not.toBe('');
    }
    const read = (file: string) => readFileSync(join(unpacked, 'deploy', file), 'utf8');
    for (const file of ['compose.yaml', 'compose.cluster.yaml']) {
      expect(read(file)).toContain(' image: ghcr.io/example/sluice:1@sha256:abc\n');
      expect(read(file)).not.toMatch(/ image: sluice$|dockerfile: deploy/m);
    }
    for (const overlay of ['single', 'roles']) {
      const text = read(`kubernetes/overlays/${overlay}/kustomization.yaml`);
      expect(text).toContain('    newName: ghcr.io/example/sluice\n    digest: sha256:abc\n');
      expect(text).not.toContain('placeholder');
    }
    expect(readFileSync(join(unpacked, 'deploy/.env.example'), 'utf8')).toContain('SLUICE_');
  });
});

test('other arguments, and releases outside of the workflow, are rejected', () => {
  expect(release(['--dryrun'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("Unknown option '--dryrun'") as string,
  });
  expect(release([], { GITHUB_ACTIONS: undefined })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`Push the tag v${version} to start it`) as string,
  });
  const workflow = { GITHUB_ACTIONS: 'true', GITHUB_REF: 'refs/tags/v1.2.3' };
  expect(findPlaceProblems(workflow, '1.2.3')).toEqual([]);
  expect(findPlaceProblems(workflow, '1.2.4')).toHaveLength(1);
  expect(findPlaceProblems({ ...workflow, GITHUB_REF: 'refs/heads/v1.2.3' }, '1.2.3')).toHaveLength(
    1,
  );
});

test('a different version in a package, a dependency or the lockfile is found', () => {
  const manifests = readManifests();
  expect(findVersionProblems(manifests)).toEqual([]);
  const [first, ...others] = manifests;
  expect(findVersionProblems([...others, { ...first!, version: '9.9.9' }])).toEqual([
    `package.json of ${first!.name} has ${first!.name} 9.9.9, not ${version}.`,
  ]);
  for (const kind of ['dependencies', 'devDependencies']) {
    for (const its of ['^9.0.0', `^${version}`]) {
      const other = { ...first!, [kind]: { '@sluice/kit': its } };
      expect(findVersionProblems([...others, other])).toEqual([
        `package.json of ${first!.name} has @sluice/kit ${its}, not ${version}.`,
      ]);
    }
  }
  const next = manifests.map((each) => ({ ...each, version: '9.9.9' }));
  expect(findVersionProblems(next).join('\n')).toContain('package-lock.json of sluice has');
});

test('changesets set one version everywhere, and become a section of the changelog', () => {
  const copy = join(folder, 'copy');
  const files = ['package.json', 'package-lock.json', 'CHANGELOG.md', 'docs/openapi.json'];
  const packages = globSync(['packages/*/package.json', '.changeset/*.json'], { cwd: ROOT });
  for (const path of [...files, ...packages, 'scripts/release']) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
  const change = (name: string, head: string, text: string): void =>
    writeFileSync(join(copy, '.changeset', `${name}.md`), `---\n${head}\n---\n\n${text}\n`);
  change('a', "'sluice': minor", '**Chains.** $1 of all.\nAs ever.');
  change('b', "'@sluice/kit': patch", 'Decodes all logs.');
  execFileSync(process.execPath, ['-C', '@sluice/source', 'scripts/release/version.ts'], {
    cwd: copy,
    stdio: 'pipe',
    env: { ...process.env, npm_config_offline: 'true' },
  });

  const [major, minor] = version.split('.').map(Number);
  const next = `${major}.${minor! + 1}.0`;
  const manifests = readManifests(copy);
  expect(new Set(manifests.map((each) => each.version))).toEqual(new Set([next]));
  expect(findVersionProblems(manifests, copy)).toEqual([]);
  const changelog = readFileSync(join(copy, 'CHANGELOG.md'), 'utf8');
  expect(findChangelogProblems(changelog, next, false)).toEqual([]);
  expect(readNotes(changelog, next)).toBe(
    '### Added\n\n- **Chains.** $1 of all.\n  As ever.\n\n### Fixed\n\n- Decodes all logs.',
  );
  expect(changelog.indexOf(`## ${next}`)).toBeLessThan(changelog.indexOf(`## ${version}`));
  expect(globSync('.changeset/*.md', { cwd: copy })).toEqual([]);
  expect(readFileSync(join(copy, 'docs/openapi.json'), 'utf8')).toContain(`"version": "${next}"`);
});

test('a missing section of the changelog, and a missing date, are found', () => {
  const changelog = '# Changelog\n\n## 1.1.0 (unreleased)\n\n- b\n\n## 1.0.0 (2026-01-02)\n\n- a\n';
  expect(readNotes(changelog, '1.1.0')).toBe('- b');
  expect(findChangelogProblems(changelog, '1.0.0', false)).toEqual([]);
  expect(findChangelogProblems(changelog, '1.1.0', true)).toEqual([]);
  expect(findChangelogProblems(changelog, '1.1.0', false).join()).toContain('has no date');
  expect(findChangelogProblems(changelog, '1.2.0', true).join()).toContain('has no section');
  expect(
    findChangelogProblems('## 1.2.0 (unreleased)\n\n## 1.1.0 (x)', '1.2.0', true),
  ).toHaveLength(1);
});

test('missing and misplaced files are found', () => {
  const files = ['package.json', 'README.md', 'LICENSE', 'dist/THIRD-PARTY.md'];
  const packed: Packed = { name: 'a', version, tarball: '', size: 0, unpackedSize: 0, files };
  expect(findFileProblems(packed)).toEqual([]);
  expect(findFileProblems({ ...packed, files: [...files, 'dist/a.test.js', '.env'] })).toEqual([
    'a contains dist/a.test.js.',
    'a contains .env.',
  ]);
  for (const [at, file] of files.entries()) {
    const [problem] = findFileProblems({ ...packed, files: files.toSpliced(at, 1) });
    expect(problem).toBe(`a lacks ${file.replace('dist/', '')}.`);
  }
});

test('publint and attw find a missing file and wrong types', async () => {
  const built = join(folder, 'wrong');
  mkdirSync(built);
  const entry = { import: './a.js', require: { types: './a.d.ts', default: './a.cjs' } };
  const manifest = { name: 'wrong', version: '1.0.0', type: 'module', exports: { '.': entry } };
  writeFileSync(join(built, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(built, 'a.js'), 'export const a = 1;\n');
  writeFileSync(join(built, 'a.d.ts'), 'export declare const a = 1;\n');
  execFileSync('npm', ['pack', '--silent'], { cwd: built, shell: process.platform === 'win32' });
  const tarball = join(built, 'wrong-1.0.0.tgz');
  const packed: Packed = { name: 'wrong', version, tarball, size: 0, unpackedSize: 0, files: [] };
  expect((await lintPackage(packed)).join('\n')).toMatch(/^wrong: publint: .*a\.cjs/m);
  expect(checkTypes(packed).join('\n')).toContain('CJSResolvesToESM');
});

test('users of the archive get the published image instead of building one', () => {
  const compose = '  a:\n    build:\n      context: ..\n      dockerfile: x\n    image: sluice\n';
  expect(withImage(compose, 'ghcr.io/a/b@sha256:1')).toBe(
    '  a:\n    image: ghcr.io/a/b@sha256:1\n',
  );
  const others = '  b:\n    build:\n      context: c\n    image: sluice-postgres\n';
  expect(withImage(others, 'x')).toBe(others);
});
