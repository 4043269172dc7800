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
    const replaceImage = (
      pattern: string,
      replaced: (text: string, by: string) => string,
    ): void => {
      for (const path of globSync(pattern, { cwd: target })) {
        const file = join(target, path);
        writeFileSync(file, replaced(readFileSync(file, 'utf8'), image));
      }
    };
    replaceImage('deploy/compose*.yaml', withImage);
    replaceImage('deploy/kubernetes/overlays/*/kustomization.yaml', withDigest);
  }
  const tarball = `${target}.tar.gz`;
  execFileSync('tar', ['-czf', basename(tarball), name], { cwd: folder });
  return tarball;
}

/** Replaces the image that a compose file builds locally with the published image. */
export const withImage = (compose: string, image: string): string =>
  compose.replaceAll(
    /^( +)build:\n(?:\1 +.*\n)+\1image: sluice$/gm,
    (_, indent: string) => `${indent}image: ${image}`,
  );

/** Replaces the placeholder of an overlay with the published image, `name[:tag]@digest`. */
function withDigest(kustomization: string, image: string): string {
  const [place = '', digest = ''] = image.split('@');
  return kustomization.replace(
    /^ +# A placeholder.*\n( +- name: sluice\n +newName: ).*(\n +digest: ).*$/m,
    (_, name: string, before: string) =>
      `${name}${place.replace(/:[^:/]+$/, '')}${before}${digest}`,
  );
}
