/** Checks import directions that a lint rule per folder cannot enforce (docs/architecture.md). */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FIELDS, flagOf } from '@sluice/service';
import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../../packages', import.meta.url));

interface Import {
  from: string;
  to: string;
}

/** Lists the sources of a folder, except tests. Paths are relative to `packages`. */
const listSources = (folder: string): string[] =>
  readdirSync(join(packages, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(test|test-d|test-only)\./.test(name))
    .map((name) => join(folder, name));

/**
 * Lists the imports in the sources of a folder, except in tests. Paths are relative to `packages`.
 */
function readImports(folder: string): Import[] {
  return listSources(folder).flatMap((from) => {
    const text = readFileSync(join(packages, from), 'utf8');
    return [...text.matchAll(/^(?:import|export) [^;]*?from '([^']+)'/gms)].map(([, to = '']) => ({
      from,
      to: to.startsWith('.') ? join(from, '..', to) : to,
    }));
  });
}

/**
 * Folders and files that each part of the service may import. The folders of a chain family belong
 * to the part of the same name. `service.ts`, `index.ts` and the other files of `families` may
 * import everything.
 */
const BELOW: Record<string, readonly string[]> = {
  base: [],
  config: ['base'],
  'openLedger.ts': ['config', 'store'],
  store: ['base'],
  match: ['base', 'store'],
  enrich: ['base', 'store'],
  secrets: ['base', 'config', 'store'],
  deliver: ['base', 'config', 'store', 'secrets'],
  operate: ['base', 'config', 'store', 'secrets', 'deliver'],
  ingest: ['base', 'config', 'store', 'match', 'enrich'],
  chains: ['base', 'config', 'store', 'match', 'enrich', 'deliver', 'operate', 'ingest'],
  api: ['base', 'config', 'store', 'match', 'secrets', 'deliver', 'operate', 'chains'],
};

/**
 * Folders that each folder of the console may import. `main.tsx` and `router.tsx` may import
 * everything. The files of chain families belong to {@link FOLDERS_OF_FAMILY_FILES}.
 */
const BELOW_IN_CONSOLE: Record<string, readonly string[]> = {
  ui: [],
  body: ['ui'],
  chains: ['ui'],
  words: ['ui', 'chains'],
  data: ['ui', 'body', 'chains', 'words'],
  routes: ['ui', 'body', 'chains', 'words', 'data'],
};

/**
 * Folders of the console to which the files of chain families belong, by the names of the files;
 * `routes` if none is listed.
 */
const FOLDERS_OF_FAMILY_FILES: Readonly<Record<string, string>> = {
  'body.ts': 'body',
  'chainPages.ts': 'chains',
  'chains.ts': 'chains',
  'data.ts': 'data',
  'readWords.ts': 'body',
  'recipeIds.ts': 'data',
  'words.ts': 'words',
};

test.each([
  ['service', BELOW, ['families', 'index.ts', 'service.ts']],
  ['console', BELOW_IN_CONSOLE, ['families', 'main.tsx', 'router.tsx', 'styles.css']],
])('folders of the %s import only folders below them', (name, below, starts) => {
  const source = join(name, 'src');
  const roomOf = (path: string): string => {
    const file = relative(source, path);
    if (name === 'console' && file.startsWith(`families${sep}`)) {
      return FOLDERS_OF_FAMILY_FILES[basename(file)] ?? 'routes';
    }
    return file.replace(/^families\/\w+\/(?=\w+\/)/, '').split(sep, 1)[0]!;
  };
  const wrong = readImports(source).filter(({ from, to }) => {
    const [own, other] = [roomOf(from), roomOf(to)];
    if (starts.includes(own) || own === other) return false;
    return to.startsWith(source) && !below[own]?.includes(other);
  });
  expect(wrong).toEqual([]);
  expect(
    readdirSync(join(packages, source))
      .filter((each) => !each.includes('.test.'))
      .toSorted(),
  ).toEqual([...Object.keys(below), ...starts].toSorted());
});

test('ingestion imports only the chain calls of enrichment', () => {
  const wrong = readImports(join('service', 'src')).filter(
    ({ from, to }) =>
      /src\/(families\/\w+\/)?ingest\//.test(from) &&
      /src\/(families\/\w+\/)?enrich\//.test(to) &&
      !/\/(state|coinReader)\.ts$/.test(to),
  );
  expect(wrong).toEqual([]);
});

/**
 * Files outside `families` that name chain families: in descriptions and help texts, as the default
 * of the published API, or as settings. In the kit, the console and the command line, each file
 * directly in `families` composes one kind of difference.
 */
const NAMES_FAMILIES: Readonly<Record<string, readonly string[]>> = {
  service: [
    'api/openApi.ts',
    'api/openApiExamples.ts',
    'config/config.ts',
    'config/settings.ts',
    'families/index.ts',
    'store/streams/contract.ts',
  ],
  kit: [
    'client/client.ts',
    'client/compatible/arguments.ts',
    'client/feed/feed.ts',
    'contract/calls/account.ts',
    'contract/calls/activity.ts',
    'contract/calls/addresses.ts',
    'contract/calls/basics.ts',
    'contract/calls/chains.ts',
    'contract/calls/deliveries.ts',
    'contract/index.ts',
    'contract/requests/account.ts',
    'contract/requests/deliveries.ts',
    'contract/requests/fields.ts',
    'errors.ts',
    // Help of a flag that both families have.
    'families/evm/schemas/fields.ts',
    'index.ts',
    'postgres/tables.ts',
    'records/compatibleValues.ts',
    'webhooks/decode.ts',
    'webhooks/logProof.ts',
    'webhooks/publicKey.ts',
    'webhooks/testing.ts',
    'webhooks/unwrap.ts',
  ],
  console: [],
  cli: [
    'commands/chains.ts',
    'commands/explain.ts',
    'commands/feed.ts',
    'commands/streams.ts',
    'commands/tail.ts',
    'imports/openZeppelin.ts',
    'mcp/chainName.ts',
    'mcp/readTools.ts',
  ],
};

test.each(Object.keys(NAMES_FAMILIES))(
  'the %s names a chain family only in its folder, and where families are composed',
  (name) => {
    const allowed = NAMES_FAMILIES[name]!;
    const source = join(name, 'src');
    const found = listSources(source)
      .filter((path) => !/\.(bench|generated)\./.test(path))
      .map((path) => relative(source, path).replaceAll(sep, '/'))
      .filter((file) => {
        const code = readCode(join(packages, source, file));
        const own = /^families\/(evm|aptos)\//.exec(file)?.[1];
        if (own !== undefined) return (own === 'evm' ? /aptos/i : /\bevm|Evm|EVM_/).test(code);
        if (name !== 'service' && /^families\/\w+\.tsx?$/.test(file)) return false;
        return /evm|aptos/i.test(file) || /evm|aptos/i.test(code);
      });
    expect(found.toSorted()).toEqual(allowed);
  },
);

/** Returns the text of a file without its comments. */
const readCode = (path: string): string =>
  readFileSync(path, 'utf8').replaceAll(/\/\*[^]*?\*\/|^ *\/\/.*$/gm, '');

test('only the command line imports the service', () => {
  const wrong = ['kit', 'testkit', 'console']
    .flatMap((name) => readImports(join(name, 'src')))
    .filter(({ to }) => to === '@sluice/service' || to === 'sluice');
  expect(wrong).toEqual([]);
});

test('only the schemas of the contract import zod', () => {
  const schemas = ['requests/', 'streams/', 'named.ts', 'calls/'].map((name) =>
    join('contract', name),
  );
  const isSchemas = (path: string): boolean =>
    schemas.some((name) => path.includes(name)) || /families\/(\w+\/)?schemas\b/.test(path);
  const wrong = readImports(join('kit', 'src')).filter(
    ({ from, to }) => !isSchemas(from) && (to === 'zod' || isSchemas(to)),
  );
  expect(wrong).toEqual([]);
});

test('the rules of the contract import no chain family', () => {
  const wrong = readImports(join('kit', 'src', 'contract', 'rules')).filter(({ to }) =>
    to.includes(join('src', 'families')),
  );
  expect(wrong).toEqual([]);
});

test('the store imports no schemas, so that its threads do not load zod', () => {
  const wrong = readImports(join('service', 'src', 'store')).filter(
    ({ to }) => to === '@sluice/kit/calls' || to === 'zod',
  );
  expect(wrong).toEqual([]);
});

/** Lists the pairs of folders in which each imports the other. */
function listMutualPairs(imports: readonly Import[]): string[] {
  const folderOf = (path: string): string => dirname(path);
  const arrows = new Set(imports.map(({ from, to }) => `${folderOf(from)} ${folderOf(to)}`));
  return [...arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' ');
    return from < to && arrows.has(`${to} ${from}`);
  });
}

test('no two folders of the store import each other', () => {
  expect(listMutualPairs(readImports(join('service', 'src', 'store')))).toEqual([]);
});

test('folders that import each other are found', () => {
  const arrow = (from: string, to: string): Import => ({ from, to });
  expect(
    listMutualPairs([
      arrow('a/x.ts', 'b/y.ts'),
      arrow('b/z.ts', 'a/x.ts'),
      arrow('b/z.ts', 'c/x.ts'),
    ]),
  ).toEqual(['a b']);
});

/**
 * Files outside `store/engine` and the folder of the destination that name engines: they open one,
 * describe them to operators, or list the destinations.
 */
const NAMES_ENGINES = [
  'config/config.ts',
  'config/settings.ts',
  'deliver/send/senders.ts',
  'index.ts',
  'openLedger.ts',
  'operate/gauges.ts',
];
/** Names of engines, and SQL that not every engine has. */
const OF_AN_ENGINE =
  /sqlite|postgres|\bpg\b|pg_|\bctid\b|for (?:no key )?update|for (?:key )?share|skip locked/i;

test('only the folder of an engine names it', () => {
  const source = join(packages, 'service', 'src');
  const naming = listSources(join('service', 'src'))
    .filter((file) => !file.startsWith(join('service', 'src', 'store', 'engine')))
    .filter((file) => !file.startsWith(join('service', 'src', 'deliver/destinations/postgres')))
    .filter((file) => OF_AN_ENGINE.test(readFileSync(join(packages, file), 'utf8')))
    .map((file) => relative(source, join(packages, file)).replaceAll(sep, '/'));
  expect(naming.toSorted()).toEqual(NAMES_ENGINES);
});

/** The tables of settings, in which each row has its flag. */
const TABLES = [
  'config/settings.ts',
  'families/aptos/config/settings.ts',
  'families/evm/config/settings.ts',
];
/** Matches commands, which messages may recommend with the flags of the command. */
const COMMAND = /\bsluice [^'"`]*/g;

test('the service names settings by their field, and their flags only in the tables', () => {
  const source = join(packages, 'service', 'src');
  const flags = new Set(FIELDS.map(flagOf));
  const naming = listSources(join('service', 'src'))
    .filter((file) => {
      const text = readFileSync(join(packages, file), 'utf8').replaceAll(COMMAND, '');
      return text.match(/--[a-z-]+/g)?.some((word) => flags.has(word));
    })
    .map((file) => relative(source, join(packages, file)).replaceAll(sep, '/'));
  expect(naming.toSorted()).toEqual(TABLES);
});

test('no engine imports another', () => {
  const engines = join('service', 'src', 'store', 'engine');
  const engineOf = (path: string): string | undefined => {
    const [name, file] = relative(engines, path).split(sep);
    return file === undefined || name === '..' ? undefined : name;
  };
  const wrong = readImports(engines).filter(
    ({ from, to }) => engineOf(to) !== undefined && engineOf(from) !== engineOf(to),
  );
  expect(wrong).toEqual([]);
});

test('the imports of the service are found', () => {
  expect(readImports(join('service', 'src')).length).toBeGreaterThan(50);
});
