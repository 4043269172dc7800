import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ENTRY = fileURLToPath(new URL('entry.ts', import.meta.url));

/**
 * Bundles the code with all its imports into one minified ES module for the web platform. Imports
 * are resolved from this folder.
 */
export async function bundle(code: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bundle-'));
  try {
    await build({
      configFile: false,
      logLevel: 'error',
      resolve: { conditions: ['@sluice/source', 'module', 'browser', 'import', 'default'] },
      plugins: [
        {
          name: 'entry',
          resolveId: (id) => (id === ENTRY ? ENTRY : undefined),
          load: (id) => (id === ENTRY ? code : undefined),
        },
      ],
      build: {
        outDir: folder,
        // For a library, Vite's own `minify` keeps the white space, which an app's bundle does not
        // have.
        rolldownOptions: { output: { minify: true } },
        lib: { entry: ENTRY, formats: ['es'], fileName: () => 'bundle.js' },
      },
    });
    return await readFile(join(folder, 'bundle.js'), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}
