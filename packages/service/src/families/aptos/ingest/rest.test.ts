/** Tests how the responses of a fullnode are read, from a server that returns fixed ones. */
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createAptosProvider } from './provider.ts';
import { createAptosRest, toArchiveUrl } from './rest.ts';

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
});

/** Starts a server that returns the same response to every request; returns its URL. */
async function serve(body: string, status = 200): Promise<string> {
  server = createServer((_, response) => response.writeHead(status).end(body));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test('the size of a response is counted in bytes', async () => {
  const json = '{"name":"α → 🪙"}';
  const rest = createAptosRest(await serve(json), 'node');
  expect(await rest.get('')).toEqual({
    value: { name: 'α → 🪙' },
    sizeBytes: Buffer.byteLength(json),
  });
  await rest.close();
});

test.each([
  [400, { error_code: 'Key-0f3a_9Zq', message: 'bad' }],
  [400, { error_code: 'web_error', message: 'no key Key-0f3a_9Zq\u202e' }],
  [410, { error_code: 'version_pruned', message: 'gone from Key-0f3a_9Zq' }],
  [502, { message: 'no key Key-0f3a_9Zq\u202e' }],
])('the text of an error is cleaned and masked: HTTP %i %o', async (status, body) => {
  const rest = createAptosRest(`${await serve(JSON.stringify(body), status)}/Key-0f3a_9Zq`, 'node');
  const error: unknown = await rest.get('blocks/by_height/1').catch((e: unknown) => e);
  await rest.close();
  expect((error as Error).message).toContain('***');
  expect((error as Error).message).not.toMatch(/0f3a|\u202e/);
});

describe('pruned data', () => {
  const ARCHIVE = 'https://archive.example/v1';
  const pruned = (archive?: unknown): string =>
    JSON.stringify({
      error_code: 'version_pruned',
      message: 'Ledger version(1) has been pruned',
      hint: 'Retry your request against the archival endpoint.',
      oldest_ledger_version: '10255283755',
      ...(archive !== undefined && { archival_endpoint: archive }),
    });
  const internal = (message: string): string =>
    JSON.stringify({ error_code: 'internal_error', message, vm_error_code: null });
  const read = async (body: string, status: number): Promise<unknown> => {
    const rest = createAptosRest(await serve(body, status), 'node');
    const error: unknown = await rest.get('transactions?start=1&limit=1').catch((e: unknown) => e);
    await rest.close();
    return error;
  };

  test.each<[string, string, number]>([
    ['HTTP 410', pruned(), 410],
    ['HTTP 410 without JSON', 'Gone', 410],
    [
      'an internal error of an older node',
      internal('Transaction at version 100 is pruned, min available version is 21114670.'),
      500,
    ],
  ])('is reported by %s', async (_, body, status) => {
    expect(await read(body, status)).toMatchObject({ kind: 'pruned', data: undefined });
  });

  test('is not reported by other internal errors', async () => {
    const error = await read(internal('Failed to read the database'), 500);
    expect(error).toMatchObject({ kind: 'unreachable' });
  });

  test.each<[unknown, string | undefined]>([
    [ARCHIVE, ARCHIVE],
    ['http://archive.internal:8080/v1', 'http://archive.internal:8080/v1'],
    ['https://user:pass@archive.example/v1?key=secret#x', ARCHIVE],
    ['archive.example', undefined],
    ['javascript:alert(1)', undefined],
    [{ url: ARCHIVE }, undefined],
  ])('has the archive %j as %j', async (named, archive) => {
    expect(await read(pruned(named), 410)).toMatchObject({ kind: 'pruned', data: archive });
  });

  test('has no archive over HTTP if the node uses HTTPS', () => {
    const node = new URL('https://node.example/v1');
    expect(toArchiveUrl('http://archive.example/v1', node)).toBeUndefined();
    expect(toArchiveUrl(ARCHIVE, node)).toBe(ARCHIVE);
  });

  test.each<[string, string | undefined, RegExp]>([
    [
      'the archive that the node names',
      ARCHIVE,
      /Add the archive that it names with --aptos mainnet=https:\/\/archive\.example\/v1, or skip/,
    ],
    [
      'a node that has it',
      undefined,
      /Add a node that has it, such as an archive, with --aptos mainnet=<url>, or skip/,
    ],
  ])('has a message with advice: add %s', async (_, archive, advice) => {
    const provider = createAptosProvider('mainnet', await serve(pruned(archive), 410), 'node');
    for (const reading of [provider.readPage(1, 1), provider.readBounds(1)]) {
      await expect(reading).rejects.toMatchObject({
        kind: 'pruned',
        message: expect.stringMatching(advice) as unknown,
      });
    }
    // Without blocks to resume at, there is nothing to skip.
    await expect(provider.readHeightOf(1)).rejects.toMatchObject({
      kind: 'pruned',
      message: expect.not.stringContaining('skip') as unknown,
    });
    await provider.close();
  });
});
