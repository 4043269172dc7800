/**
 * Bundles the threads of the SQLite ledger for a test run. The tests open the ledger hundreds of
 * times, and a thread starts several times faster from one file than from its 400 modules.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const FOLDER = at('node_modules/.cache/ledger-threads');
const SOURCES = at('packages/service/src/store/engine/sqlite/');
const THREADS = ['sqliteWorker', 'sqliteCheckpointer'];

/** Returns the flags of Node with which threads of the ledger run the bundles. */
export async function bundleLedgerThreads(): Promise<string[]> {
  await build({
    input: Object.fromEntries(THREADS.map((name) => [name, `${SOURCES}${name}.ts`])),
    platform: 'node',
    external: ['pg-native'],
    resolve: { conditionNames: ['@sluice/source', 'node'] },
    output: { dir: FOLDER, format: 'esm', entryFileNames: '[name].mjs', sourcemap: true },
    logLevel: 'warn',
  });
  const bundles = THREADS.map((name) => [
    pathToFileURL(`${SOURCES}${name}.ts`).href,
    pathToFileURL(`${FOLDER}/${name}.mjs`).href,
  ]);
  const preload = `${FOLDER}/preload.mjs`;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(
    preload,
    `import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';
const bundles = new Map(${JSON.stringify(bundles)});
if (!isMainThread) {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const url = bundles.get(found.url);
      return url === undefined ? found : { ...found, url, format: 'module' };
    },
  });
}
`,
  );
  return ['--import', pathToFileURL(preload).href];
}
