/**
 * Tests the parts of `npm run site` other than VitePress: the API pages, the lists of pages, the
 * rewriting of links and the link check.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenApi, Schema } from '../../packages/console/src/routes/apiReference/openApi.ts';
import { listFields, toTable, typeOf } from '../../site/api/fields.ts';
import { listApiPages } from '../../site/api/pages.ts';
import { readGroups } from '../../site/contents.ts';
import { findDeadLinks } from '../../site/links.ts';
import { rewriteLinks, siteOf } from '../../site/stage.ts';

const document = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
) as OpenApi;

describe('the API pages', () => {
  const pages = listApiPages(document);
  const sections = pages.flatMap(({ text }) => text.split(/^(?=## )/m));
  const calls = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(
      ([method, call]) => [`${method.toUpperCase()} ${route}`, call] as const,
    ),
  );

  test.each(calls)('describe %s: scope, fields and errors', (name, call) => {
    const found = sections.filter((section) => section.includes(`\n\`${name}\`, `));
    expect(found).toHaveLength(1);
    const [section = ''] = found;
    expect(section.startsWith(`## ${call.summary}\n`)).toBe(true);
    for (const scope of call.security?.[0]?.['apiKey'] ?? []) {
      expect(section).toContain(`, scope \`${scope}\``);
    }
    for (const each of call.parameters ?? []) expect(section).toContain(`| \`${each.name}\` |`);
    for (const { schema } of Object.values(call.requestBody?.content ?? {})) {
      const body = document.components.schemas[schema.$ref!.split('/').at(-1)!]!;
      for (const field of Object.keys(body.properties ?? {})) {
        expect(section).toContain(`| \`${field}\` |`);
      }
    }
    for (const status of Object.keys(call.responses)) expect(section).toContain(status);
  });

  test('list every call once, and every shape', () => {
    const overview = pages.find(({ name }) => name === 'index.md')!.text;
    for (const [name] of calls) expect(overview.split(`[\`${name}\`]`)).toHaveLength(2);
    const shapes = pages.find(({ name }) => name === 'shapes.md')!.text;
    for (const name of Object.keys(document.components.schemas)) {
      expect(shapes).toContain(`## ${name}\n`);
    }
  });
});

describe('a schema', () => {
  test.each<[Schema, string]>([
    [{ type: 'integer', minimum: 1, maximum: 100 }, 'integer'],
    [{ type: ['string', 'null'], maxLength: 9 }, 'string or null'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'object of number by name'],
    [{ $ref: '#/components/schemas/AbiItem' }, '[AbiItem](shapes.md#abiitem)'],
    [
      { type: 'array', items: { $ref: '#/components/schemas/AbiItem' } },
      'array of [AbiItem](shapes.md#abiitem)',
    ],
  ])('%j is %s', (schema, type) => expect(typeOf(schema)).toBe(type));

  test('lists the fields of inner objects', () => {
    const inner = { type: 'object', properties: { b: {} } };
    const names = (schema: Schema) =>
      listFields({ properties: { a: schema } }).map((it) => it.name);
    expect(names(inner)).toEqual(['a', 'a.b']);
    expect(names({ type: 'array', items: inner })).toEqual(['a', 'a[].b']);
    expect(names({ additionalProperties: inner })).toEqual(['a', 'a.*.b']);
    expect(names({ anyOf: [inner, { type: 'null' }] })).toEqual(['a', 'a.b']);
  });

  test('cannot break out of its table or add elements', () => {
    const schema = { type: 'string', maxLength: 9, description: '<b> | `<c>`', default: 'x' };
    expect(
      toTable([{ name: 'a', schema, isRequired: true }])
        .split('\n')
        .at(-1),
    ).toBe('| `a` | string, required | At most 9 characters. &lt;b> \\| `<c>`. Default: `x`. |');
  });
});

test('a list of pages has groups and descriptions', () => {
  expect(readGroups('1. [A](a.md)\n\n**B**\n\n- [C](../c.md): about c\n- no page\n')).toEqual([
    { heading: '', entries: [{ title: 'A', path: 'a.md', about: '' }] },
    { heading: 'B', entries: [{ title: 'C', path: '../c.md', about: 'about c' }] },
  ]);
});

test.each([
  ['docs/kit/README.md', 'docs/kit/index.md'],
  ['docs/cli.md', 'docs/cli.md'],
  ['examples/hono.ts', 'examples/hono-ts.md'],
  ['deploy/compose.yaml', 'deploy/compose.yaml'],
])('the site has %s as %s', (file, name) => expect(siteOf(file)).toBe(name));

test('links are rewritten to the pages of the site, and their targets are returned', () => {
  const found: string[] = [];
  const text = rewriteLinks(
    '[a](kit/README.md#b) [c](../examples/hono.ts) [d](#e) [f](https://g.example/README.md) ' +
      '<img src="console.png">\n```ts\n[h](README.md)\n```\n[i](openapi.json)',
    'docs/page.md',
    (target) => found.push(target),
  );
  expect(text).toBe(
    '[a](kit/index.md#b) [c](../examples/hono-ts.md) [d](#e) [f](https://g.example/README.md) ' +
      '<img src="/docs/console.png">\n```ts\n[h](README.md)\n```\n[i](openapi.json)',
  );
  expect(found).toEqual([
    'docs/kit/README.md',
    'examples/hono.ts',
    'docs/console.png',
    'docs/openapi.json',
  ]);
});

describe('the check of links', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-site-'));
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };
  beforeAll(() => {
    write(
      'index.html',
      '<h1 id="top">A</h1><a href="./docs/page#part-one">b</a><a href="#top">c</a>',
    );
    write(
      'docs/index.html',
      '<a href="./page">a</a><a class="x" href="/docs/page.md#part-one">b</a>',
    );
    write('docs/page.html', '<h2 id="part-one">Part one</h2><a href="https://x.example/y">z</a>');
    write('docs/page.md', '# Page\n\n## Part one\n\n```md\n[a](nowhere.md)\n```\n');
    write('llms.txt', '- [Page](docs/page.md)\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('accepts links to pages, anchors, files and other sites', () =>
    expect(findDeadLinks(folder)).toEqual([]));

  test.each([
    ['a.html', '<a href="/docs/pages">x</a>', '/docs/pages'],
    ['a.html', '<a href="/docs/page#part-two">x</a>', '/docs/page#part-two'],
    ['a.html', '<a href="#bottom">x</a>', '#bottom'],
    ['a.html', '<img alt="x" src="/x.png">', '/x.png'],
    ['docs/a.html', '<a href="docs/page">x</a>', 'docs/page'],
    ['a.md', '[x](docs/page.md#part-two)', 'docs/page.md#part-two'],
    ['a.txt', '[x](docs/other.md)', 'docs/other.md'],
  ])('reports, in %s, %s', (file, text, link) => {
    write(file, text);
    expect(findDeadLinks(folder)).toEqual([`${file}: ${link}`]);
    rmSync(path.join(folder, file));
  });
});
