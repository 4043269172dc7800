import { expect, test } from 'vitest';
import { isTablesUrl, parseTablesUrl, tablesUrlProblem } from './tables.ts';

test('a URL of tables has a host, a database and a schema', () => {
  expect(parseTablesUrl('postgres://u:p@db.example/shop?schema=Pay%20ments')).toEqual({
    host: 'db.example',
    port: 5432,
    database: 'shop',
    schema: 'Pay ments',
    tls: 'disable',
  });
  expect(parseTablesUrl('postgresql://[::1]:6000/a%20b?schema=s&sslmode=verify-full')).toEqual({
    host: '::1',
    port: 6000,
    database: 'a b',
    schema: 's',
    tls: 'verify-full',
  });
});

test.each([
  ['postgres://', /host, a database and a schema/],
  ['postgres://host?schema=a', /host, a database and a schema/],
  ['postgres://host/db', /name the schema/],
  ['postgres://host/db?schema=pg_catalog', /name the schema/],
  [`postgres://host/db?schema=${'ü'.repeat(32)}`, /at most 63 bytes/],
  ['postgres://host/db?schema=a&options=x', /except schema and sslmode, not options/],
  ['postgres://host/db?schema=a&sslmode=prefer', /for sslmode/],
  ['postgres://host/%zz?schema=a', /% only before/],
])('%s: its problem says what to change', (url, problem) => {
  expect(isTablesUrl(url)).toBe(true);
  expect(tablesUrlProblem(url)).toMatch(problem);
});

test('other URLs are not of tables', () => {
  for (const url of ['https://a/b', 'postgres:a', 'POSTGRES://a/b', '']) {
    expect(isTablesUrl(url)).toBe(false);
  }
});
