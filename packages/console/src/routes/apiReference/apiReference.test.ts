import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { toDocument, type ApiCall } from './document.ts';
import type { OpenApi } from './openApi.ts';
import { toPath } from './request.ts';
import { exampleOf, fieldsOf, limitsOf, typeOf } from './schema.ts';
import { MASK, maskSecrets } from './secrets.ts';

const file = new URL('../../../../../docs/openapi.json', import.meta.url);
const { calls, schemas } = toDocument(JSON.parse(await readFile(file, 'utf8')) as OpenApi);

function callOf(name: string): ApiCall {
  const call = calls.find((each) => each.name === name);
  if (call === undefined) throw new Error(`no call ${name}`);
  return call;
}

/** Returns the type and the limits of one field in the request body of a call. */
function describe(name: string, field: string): string[] {
  const { schema } = callOf(name).body ?? {};
  const found = fieldsOf(schema ?? {}, schemas).find((each) => each.name === field);
  if (found === undefined) throw new Error(`no field ${field}`);
  return [typeOf(found.schema, schemas), ...limitsOf(found.schema, schemas)];
}

test('fields have their type and limits in words', () => {
  expect(describe('createEvmStream', 'webhookUrl')).toEqual(['string', 'at most 2,048 characters']);
  expect(describe('createEvmStream', 'chainIds')).toEqual(['array of string', '1 to 100 items']);
  expect(describe('createEvmStream', 'allAddresses')).toEqual(['boolean or null']);
  expect(describe('createEvmStream', 'headers')).toEqual(['object of string by name or null']);
  expect(describe('setEvmStreamStatus', 'status')).toEqual([
    'string',
    'one of "active", "paused", "error"',
  ]);
  expect(describe('setSettings', 'secretKey')).toEqual(['secret', '1 to 1,024 characters']);
  const id = callOf('getEvmStream').response.schema;
  const found = fieldsOf(id!, schemas).find(({ name }) => name === 'id')!.schema;
  expect([typeOf(found, schemas), ...limitsOf(found, schemas)]).toEqual(['UUID']);
});

test('examples of request bodies have every required field', () => {
  const withBody = calls.filter(({ body }) => body?.required === true);
  expect(withBody.length).toBeGreaterThan(20);
  for (const { name, body } of withBody) {
    const required = fieldsOf(body!.schema, schemas).filter((field) => field.required);
    expect(Object.keys(exampleOf(body!.schema, schemas) as object), name).toEqual(
      expect.arrayContaining(required.map((field) => field.name)),
    );
  }
});

test('secrets of a response are masked at any depth, and others are kept as sent', () => {
  const { schema } = callOf('getStreamSecret').response;
  const sent = { streamId: 'a', secret: 'whsec_1', previous: [{ secret: 'whsec_2', endsAt: 1 }] };
  expect(JSON.parse(maskSecrets(JSON.stringify(sent), schema, schemas))).toEqual({
    streamId: 'a',
    secret: MASK,
    previous: [{ secret: MASK, endsAt: 1 }],
  });
  expect(maskSecrets('{"secret":"whsec_1","str', schema, schemas)).toBe(MASK);
  const map = { type: 'object', additionalProperties: { type: 'string', format: 'password' } };
  expect(maskSecrets('{"a":"1"}', map, {})).toBe(`{"a":"${MASK}"}`);
  const stream = '{ "tag": "a",  "secret": "b" }';
  expect(maskSecrets(stream, callOf('getEvmStream').response.schema, schemas)).toBe(stream);
});

test('every response that contains a secret is known', () => {
  const secret = calls
    .filter(({ response }) => maskSecrets('[', response.schema, schemas) === MASK)
    .map(({ name }) => name);
  expect(secret).toEqual([
    'readSettings',
    'setSettings',
    'getStreamSecret',
    'rotateStreamSecret',
    'createApiKey',
  ]);
});

test('paths are encoded, lists are repeated, and empty parameters are left out', () => {
  const list = callOf('listDeliveries');
  expect(toPath(list, { state: 'failed, pending', error: ' a&b ', limit: '' })).toBe(
    '/sluice/deliveries?state=failed&state=pending&error=a%26b',
  );
  expect(toPath(callOf('getEvmStream'), { id: '../keys' })).toBe('/streams/evm/..%2Fkeys');
});
