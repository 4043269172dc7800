/**
 * Version and commit of this program. Imports no other module of the service, so that
 * `sluice --version` is fast.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** Version that all packages of Sluice share. */
export const VERSION = manifest.version;

/** Commit of the build; defined only in the packed package. */
declare const SLUICE_BUILT_COMMIT: string;

const ROOT = new URL('../../../../', import.meta.url);

/** Returns the version and the commit, such as `0.1.0 (0123456789ab)`. */
export const describeBuild = (): string => `${VERSION} (${readCommit()})`;

/**
 * Returns the first 12 hex digits of the commit, from the build, the checkout, or the file `COMMIT`
 * of a container image; `unknown` if none of them is available.
 */
export function readCommit(root = fileURLToPath(ROOT)): string {
  if (typeof SLUICE_BUILT_COMMIT !== 'undefined') return SLUICE_BUILT_COMMIT;
  try {
    const commit = existsSync(`${root}/.git`)
      ? execFileSync('git', ['rev-parse', 'HEAD'], {
          cwd: root,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        })
      : readFileSync(`${root}/COMMIT`, 'utf8');
    return /^[0-9a-f]{12}/.exec(commit)?.[0] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
