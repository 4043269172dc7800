import { expect, test } from 'vitest';
import { toConnectingCurl, toCurl } from './curl.ts';

test('a body keeps its quotes, and the shell expands nothing in it', () => {
  const text = toCurl({ id: 'a', body: `{"name":"it's $(rm)"}` }, 'http://127.0.0.1/x');
  expect(text).toContain(`'{"name":"it'\\''s $(rm)"}'`);
  expect(text).toContain(`-H 'webhook-id: a'`);
});

test('a large body is read from a file', () => {
  expect(toCurl({ id: 'a', body: 'x'.repeat(200_000) }, 'http://127.0.0.1/')).toContain(
    '--data-binary @body.json',
  );
});

test('a command that only connects contains no secrets of the URL', () => {
  expect(toConnectingCurl("http://***@api.example:8080/it's?token=***")).toBe(
    `curl -v -X POST 'http://api.example:8080/it'\\''s'`,
  );
});
