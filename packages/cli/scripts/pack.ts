/**
 * The one package people install: kit, service, test kit, command line and console in one folder,
 * without dependencies but the pinned Node. `node -C @sluice/source packages/cli/scripts/pack.ts DIR`
 * makes `DIR/sluice`, for `npm pack` or `npm publish`.
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
import { build } from 'rolldown';

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

const folder = resolve(process.argv[2] ?? '.');
const built = join(folder, 'sluice');
rmSync(built, { recursive: true, force: true });
mkdirSync(built, { recursive: true });

await build({
  // What runs in a thread or a process of its own is read from beside what starts it.
  input: {
    main: at('packages/cli/src/main.ts'),
    sqliteWorker: at('packages/service/src/store/engine/sqlite/sqliteWorker.ts'),
    sqliteCheckpointer: at('packages/service/src/store/engine/sqlite/sqliteCheckpointer.ts'),
    isolatedSender: at('packages/service/src/deliver/send/isolatedSender.ts'),
  },
  platform: 'node',
  // All are looked for by libraries that do without.
  external: ['pg-native', 'bufferutil', 'utf-8-validate', '@grpc/proto-loader'],
  resolve: { conditionNames: ['@sluice/source', 'node'] },
  transform: { target: 'node20' },
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
  throw new Error('The console is not built: npm start, or npm run build -w @sluice/console');
}
cpSync(consoleBuild, join(built, 'console'), {
  recursive: true,
  // What the build notes for itself.
  filter: (path) => !basename(path).startsWith('.'),
});
// What it links to lies beside it in the package.
const readme = readFileSync(at('packages/cli/README.md'), 'utf8').replaceAll('](../../', '](');
writeFileSync(join(built, 'README.md'), readme);
for (const name of ['CHANGELOG.md', 'LICENSE', 'SECURITY.md']) cpSync(at(name), join(built, name));
cpSync(at('docs'), join(built, 'docs'), {
  recursive: true,
  filter: (path) => !/\.png$|\/decisions$/.test(path),
});
for (const page of globSync('**/*.{md,txt}', { cwd: built })) {
  const path = join(built, page);
  writeFileSync(path, withoutDeadLinks(readFileSync(path, 'utf8'), dirname(path)));
}

const { name, version, description, license } = readJson(at('packages/cli/package.json'));
const { optionalDependencies = {} } = readJson(at('package.json'));
const manifest = {
  ...{ name, version, description, license },
  type: 'module',
  bin: { sluice: 'dist/main.js' },
  // Old enough to say what is missing; what runs the service is the pinned one.
  engines: { node: '>=20' },
  optionalDependencies,
};
writeFileSync(join(built, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);

/** A link to what stays in the repository becomes its words. */
function withoutDeadLinks(page: string, folder: string): string {
  return page.replaceAll(
    /\[([^\]]+)\]\(([^)#]+)(?:#[^)]*)?\)/g,
    (link, words: string, path: string) =>
      /^\w+:/.test(path) || existsSync(join(folder, path)) ? link : words,
  );
}
