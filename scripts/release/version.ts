/**
 * `npm run release:version`: applies the pending changesets. Sets the next version in all packages,
 * the lockfile and the API description, and adds a section to the changelog.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readChangesets } from '@changesets/read';
import { readManifests } from './checks.ts';
import { ROOT, npm } from './packages.ts';

/** Headings of the changelog, by the kind of change. */
const HEADINGS = { major: 'Changed', minor: 'Added', patch: 'Fixed', none: undefined };

const changesets = await readChangesets(ROOT);
const changeset = fileURLToPath(import.meta.resolve('@changesets/cli/bin.js'));
execFileSync(process.execPath, [changeset, 'version'], { cwd: ROOT, stdio: 'inherit' });
const { version } = readManifests()[0]!;
npm(ROOT, 'install', '--package-lock-only', '--ignore-scripts');
replaceIn('docs/openapi.json', /(?<="version": ")[^"]+/, version);
replaceIn('CHANGELOG.md', /(?=^## )/m, `${newSection()}\n\n`);

/** Returns the section of the version: the texts of its changesets, by kind of change. */
function newSection(): string {
  const date = new Date().toISOString().slice(0, 10);
  const parts = Object.entries(HEADINGS).flatMap(([type, heading]) => {
    const entries = changesets
      .filter(({ releases }) => kindOf(releases) === type)
      .map(({ summary }) => `- ${summary.replaceAll('\n', '\n  ')}`);
    return heading === undefined || entries.length === 0
      ? []
      : [`### ${heading}`, entries.join('\n')];
  });
  return [`## ${version} (${date})`, ...parts].join('\n\n');
}

/** Returns the largest change that a changeset makes to any package. */
function kindOf(releases: readonly { type: string }[]): string | undefined {
  return Object.keys(HEADINGS).find((type) => releases.some((release) => release.type === type));
}

function replaceIn(name: string, pattern: RegExp, text: string): void {
  const path = join(ROOT, name);
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(pattern, () => text),
  );
}
