/**
 * Builds the package that users install: kit, service, test kit, command line and console in one
 * folder, with the pinned Node as the only dependency.
 * `node -C @sluice/source packages/cli/scripts/pack.ts DIR` creates `DIR/sluice`, ready for
 * `npm pack`.
 */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCommit } from '@sluice/service/build';
import { build } from 'rolldown';
import { REPOSITORY_URL, repositoryFields } from '../../../scripts/release/repository.ts';
import { thirdPartyLicenses } from '../../kit/scripts/thirdParty.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const at = (...parts: string[]): string => join(root, ...parts);
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Manifest;

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  optionalDependencies?: Record<string, string>;
}

const { name, version, description, license } = readJson(at('packages/cli/package.json'));
const folder = resolve(process.argv[2] ?? '.');
const built = join(folder, 'sluice');
rmSync(built, { recursive: true, force: true });
mkdirSync(built, { recursive: true });

await build({
  // Code that runs in its own thread or process needs its own file next to the main file.
  input: {
    main: at('packages/cli/src/main.ts'),
    sqliteWorker: at('packages/service/src/store/engine/sqlite/sqliteWorker.ts'),
    sqliteCheckpointer: at('packages/service/src/store/engine/sqlite/sqliteCheckpointer.ts'),
    isolatedSender: at('packages/service/src/deliver/send/isolatedSender.ts'),
  },
  platform: 'node',
  // Optional packages that libraries import only if they are installed.
  external: ['pg-native', 'bufferutil', 'utf-8-validate', '@grpc/proto-loader'],
  resolve: {
    conditionNames: ['@sluice/source', 'node'],
    // Otherwise, the client of Kafka reads a file that is not in the package.
    alias: { '@platformatic/wasm-utils$': '@platformatic/wasm-utils/bundled' },
  },
  transform: {
    target: 'node20',
    define: { SLUICE_BUILT_COMMIT: JSON.stringify(readCommit()) },
  },
  plugins: [thirdPartyLicenses()],
  output: {
    dir: join(built, 'dist'),
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  },
});

const consoleBuild = at('packages/console/dist');
if (!existsSync(consoleBuild)) {
  throw new Error('The console is not built. Run npm run build -w @sluice/console.');
}
cpSync(consoleBuild, join(built, 'console'), {
  recursive: true,
  // Skips hidden files, such as the metadata of the build.
  filter: (path) => !basename(path).startsWith('.'),
});
// npm's website needs absolute links. Without a repository, the links lead to the pages in the
// package.
const base = REPOSITORY_URL === undefined ? '' : `${REPOSITORY_URL}/blob/v${version}/`;
const readme = readFileSync(at('packages/cli/README.md'), 'utf8');
writeFileSync(join(built, 'README.md'), readme.replaceAll('](../../', `](${base}`));
for (const name of ['CHANGELOG.md', 'LICENSE', 'SECURITY.md']) cpSync(at(name), join(built, name));
cpSync(at('docs'), join(built, 'docs'), {
  recursive: true,
  filter: (path) => !/\.png$|\/decisions$/.test(path),
});
for (const page of globSync('**/*.{md,txt}', { cwd: built })) {
  const path = join(built, page);
  writeFileSync(path, withoutDeadLinks(readFileSync(path, 'utf8'), dirname(path)));
}

const { optionalDependencies = {} } = readJson(at('package.json'));
const manifest = {
  name,
  version,
  description,
  license,
  ...repositoryFields('packages/cli'),
  type: 'module',
  bin: { sluice: 'dist/main.js' },
  // This version is lower than the one that Sluice needs, so that an older Node can run the
  // launcher, which starts the pinned Node.
  engines: { node: '>=20' },
  optionalDependencies,
};
writeFileSync(join(built, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);

/** Replaces each relative link to a file outside the package with the text of the link. */
function withoutDeadLinks(page: string, folder: string): string {
  return page.replaceAll(
    /\[([^\]]+)\]\(([^)#]+)(?:#[^)]*)?\)/g,
    (link, words: string, path: string) =>
      /^\w+:/.test(path) || existsSync(join(folder, path)) ? link : words,
  );
}
