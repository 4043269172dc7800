/** Builds the gallery of components in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const CONFIG = new URL('../../packages/console/gallery/vite.config.ts', import.meta.url);

/** Size of the browser window, in pixels. */
export const GALLERY = { width: 720, height: 560 };

export async function buildGallery(): Promise<{
  /** Returns the path of the file that a URL of the gallery stands for. */
  fileOf: (url: string) => string;
  remove: () => Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-gallery-'));
  await build({
    configFile: fileURLToPath(CONFIG),
    logLevel: 'error',
    build: { outDir: folder },
  });
  return {
    fileOf(url) {
      const { pathname } = new URL(url);
      const file = pathname.slice('/gallery/'.length);
      return join(folder, file === '' ? 'index.html' : file);
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
