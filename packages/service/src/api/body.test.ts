import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { eachCall } from '@sluice/kit/calls';
import fc from 'fast-check';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { HttpError } from './httpErrors.ts';
import { bodyLimitOf, isDeeper, takeBody } from './body.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;

test('property: the scanned depth equals that of the parsed value, regardless of its strings', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^["\\[\]{}]{0,20}$/));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'large' },
      text,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.integer({ min: 0, max: 12 }), fc.boolean(), (each, levels, isWide) => {
      const json = Buffer.from(JSON.stringify(each, undefined, isWide ? 1 : 0));
      expect(isDeeper(json, levels)).toBe(depthOf(each) > levels);
    }),
  );
});

test('invalid JSON is scanned to its end', () => {
  for (const text of ['"', '"\\', ']]]', '{"a":"\\"[[[', '']) {
    expect(isDeeper(Buffer.from(text), 2)).toBe(false);
  }
});

test('only the address calls accept more than 1 MiB; calls without a key accept 4 KiB', () => {
  const limits = eachCall.map(([name, call]) => [name, bodyLimitOf(call)] as const);
  const above = limits.filter(([, bytes]) => bytes > 1_048_576);
  expect(above).toEqual(
    ['addEvmAddresses', 'removeEvmAddresses', 'replaceEvmAddresses']
      .concat('addAptosAddresses', 'removeAptosAddresses')
      .map((name) => [name, 67_108_864]),
  );
  expect(Object.fromEntries(limits)).toMatchObject({ createSession: 4_096, deleteSession: 4_096 });
});

test.each([false, true])(
  'a slow sender of a large body gets the 413, chunked: %s',
  async (chunked) => {
    const KIB = 1024;
    const app = new Hono().post('/', async (context) => {
      await takeBody(context, 4 * KIB);
      return context.text('read');
    });
    app.onError((error, context) =>
      context.text(error.message, error instanceof HttpError ? 413 : 500),
    );
    const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method: 'POST',
      ...(!chunked && { headers: { 'content-length': 10 * KIB } }),
    });
    let hasResponded = false;
    const received = once(request, 'response').finally(() => (hasResponded = true));
    for (let n = 0; n < 9; n++) {
      request.write(Buffer.alloc(KIB, ' '));
      await wait(100);
    }
    // The adapter would close the connection soon after an early response.
    expect(hasResponded).toBe(false);
    request.end(Buffer.alloc(KIB, ' '));
    const [response] = (await received) as [{ statusCode: number }];
    expect(response.statusCode).toBe(413);
    server.close();
  },
);
