import { expect, test } from 'vitest';
import { quoteShell, toConnectingCurl, toCurl } from './shell.ts';

const request = { method: 'POST', url: 'http://127.0.0.1/x' };

test('an argument is quoted if a shell would change it', () => {
  expect(['a-b_c.d/e:1', 'a b', '$HOME', "it's", ''].map(quoteShell)).toEqual([
    'a-b_c.d/e:1',
    `'a b'`,
    `'$HOME'`,
    `'it'\\''s'`,
    `''`,
  ]);
});

test('a request becomes one command', () => {
  expect(
    toCurl({ ...request, sendsApiKey: true, headers: { 'webhook-id': 'a' }, body: `{"a":"$(b)"}` }),
  ).toBe(
    [
      'curl -X POST http://127.0.0.1/x \\',
      '  -H "x-api-key: $SLUICE_API_KEY" \\',
      "  -H 'webhook-id: a' \\",
      `  --data-binary '{"a":"$(b)"}'`,
    ].join('\n'),
  );
  expect(toCurl(request)).toBe('curl -X POST http://127.0.0.1/x');
});

test('a large body, and one that is not text, are read from a file', () => {
  for (const body of ['x'.repeat(100_001), {}]) {
    expect(toCurl({ ...request, body })).toMatch(/ --data-binary @body\.json$/);
  }
});

test('a command that only connects contains no secrets of the URL', () => {
  expect(toConnectingCurl("http://***@api.example:8080/it's?token=***")).toBe(
    `curl -v -X POST 'http://api.example:8080/it'\\''s'`,
  );
});
