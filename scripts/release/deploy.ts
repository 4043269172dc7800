/** Packs `deploy/` and all licenses for people who deploy the container image. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from './packages.ts';

/**
 * Creates `sluice-deploy-VERSION.tar.gz` and returns its path.
 *
 * @param built the built package `sluice`, with the lists of third-party licenses
 * @param image the published image with its digest; undefined in a rehearsal
 */
export function packDeploy(
  folder: string,
  version: string,
  built: string,
  image: string | undefined,
): string {
  const name = `sluice-deploy-${version}`;
  const target = join(folder, name);
  cpSync(join(ROOT, 'deploy'), join(target, 'deploy'), { recursive: true });
  copyFileSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
  for (const part of ['dist', 'console']) {
    copyFileSync(join(built, part, 'THIRD-PARTY.md'), join(target, `THIRD-PARTY-${part}.md`));
  }
  if (image !== undefined) {
    for (const path of globSync('deploy/**/*.yaml', { cwd: target })) {
      const file = join(target, path);
      writeFileSync(file, withImage(readFileSync(file, 'utf8'), image));
    }
  }
  const tarball = `${target}.tar.gz`;
  execFileSync('tar', ['-czf', basename(tarball), name], { cwd: folder });
  return tarball;
}

/** Replaces the image that users build themselves with the published one. */
export const withImage = (manifest: string, image: string): string =>
  manifest
    .replaceAll(/^( +image:) sluice(:latest)?$/gm, `$1 ${image}`)
    .replace(/^ {4}build:\n(?: {6}.*\n)+/m, '');
