/**
 * Builds the published files. ES modules stay separate files, so that bundlers can drop unused
 * ones. The CommonJS modules include the dependencies that exist only as ES modules. `-- DIR` sets
 * the output folder; default: `dist`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { thirdPartyLicenses } from './thirdParty.ts';

const kit = fileURLToPath(new URL('..', import.meta.url));
const compiler = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
const folder = resolve(process.argv[2] ?? join(kit, 'dist'));

const { exports } = JSON.parse(readFileSync(join(kit, 'package.json'), 'utf8')) as {
  exports: Record<string, { default?: string }>;
};
/** Paths of the entry points below `folder`, without their extension. */
const entries = Object.values(exports).flatMap(({ default: published }) =>
  published === undefined ? [] : published.replace(/^\.\/dist\/|\.js$/g, ''),
);
/** Matches the module specifier of an import, an export or an import type. */
const SPECIFIER = /(\bfrom |\bimport\()(['"])([^'"]+)\2/g;

rmSync(folder, { recursive: true, force: true });
compile('--emitDeclarationOnly');
compile('--declaration', 'false', '--removeComments');
indentWithTabs();
removeUnused();
await buildCommonJs();

function compile(...options: string[]): void {
  const args = [compiler, '-p', 'tsconfig.build.json', '--outDir', folder, ...options];
  execFileSync(process.execPath, args, { cwd: kit, stdio: 'inherit' });
}

/**
 * Replaces the compiler's indentation of four spaces with tabs, which makes the package smaller.
 */
function indentWithTabs(): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.[jt]s$/.test(name)) continue;
    const path = join(folder, name);
    const code = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      code.replaceAll(/^(?: {4})+/gm, (indent) => '\t'.repeat(indent.length / 4)),
    );
  }
}

/**
 * Removes modules and declaration files that no entry point uses, such as the schemas of the chain
 * families. Writes CommonJS versions of the declarations.
 */
function removeUnused(): void {
  const declarations = listUsed('.d.ts');
  const used = new Set([...declarations, ...listUsed('.js')]);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (/\.(js|d\.ts)$/.test(name) && !used.has(path)) rmSync(path);
  }
  for (const path of declarations) {
    const declarations = hasValues(path) ? asCommonJs(readFileSync(path, 'utf8')) : reexport(path);
    writeFileSync(path.replace(/\.ts$/, '.cts'), declarations);
  }
}

function hasValues(declarations: string): boolean {
  const path = declarations.replace(/\.d\.ts$/, '.js');
  return existsSync(path) && readFileSync(path, 'utf8').trim() !== 'export {};';
}

/** Re-exports a module that has only types, because a copy would make the package larger. */
function reexport(path: string): string {
  return `export type * from './${basename(path, '.d.ts')}.js' with { 'resolution-mode': 'import' };\n`;
}

/** Lists the files with this ending that the entry points use. */
function listUsed(ending: '.js' | '.d.ts'): Set<string> {
  const used = new Set<string>();
  const add = (path: string): void => {
    if (used.has(path)) return;
    used.add(path);
    for (const [, , , specifier = ''] of readFileSync(path, 'utf8').matchAll(SPECIFIER)) {
      if (!specifier.startsWith('.')) continue;
      add(resolve(dirname(path), specifier.replace(/\.[jt]s$/, ending)));
    }
  };
  for (const entry of entries) add(join(folder, `${entry}${ending}`));
  return used;
}

/**
 * Converts declarations for CommonJS: relative imports refer to the `.cjs` files, and the types of
 * abitype are imported as an ES module.
 */
function asCommonJs(declarations: string): string {
  return declarations.replaceAll(SPECIFIER, (_, before, quote, specifier: string) => {
    const path = specifier.startsWith('.') ? specifier.replace(/\.[jt]s$/, '.cjs') : specifier;
    const mode = specifier === 'abitype' ? " with { 'resolution-mode': 'import' }" : '';
    return `${before}${quote}${path}${quote}${mode}`;
  });
}

async function buildCommonJs(): Promise<void> {
  await build({
    input: Object.fromEntries(entries.map((entry) => [entry, join(kit, `src/${entry}.ts`)])),
    external: [/^node:/],
    platform: 'neutral',
    transform: { target: 'es2022' },
    plugins: [thirdPartyLicenses()],
    output: {
      dir: folder,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name].cjs',
      comments: { legal: true, jsdoc: false, annotation: true },
    },
  });
}
