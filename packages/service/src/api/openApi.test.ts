import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROUTES, SLUICE_ROUTES } from '@sluice/kit/contract';
import { SCHEMAS } from '@sluice/kit/calls';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { VERSION } from '../base/build.ts';
import { createLog } from '../base/log.ts';
import { startService } from '../service.ts';
import { createOpenApi } from './openApi.ts';
import { EXAMPLES } from './openApiExamples.ts';

const document = createOpenApi(VERSION);

test('the OpenAPI document is valid OpenAPI 3.1, and every reference resolves', async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(validator.version).toBe('3.1');

  const text = JSON.stringify(document);
  for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = path
      .split('/')
      .reduce<unknown>(
        (value, key) => (value as Record<string, unknown> | undefined)?.[key],
        document,
      );
    expect(target, path).toBeDefined();
  }
});

test('the OpenAPI document has every route under its name', () => {
  const { paths } = document as { paths: Record<string, Record<string, { operationId: string }>> };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
    ),
  );
  const routes = Object.entries({ ...ROUTES, ...SLUICE_ROUTES }).map(
    ([name, { method, path }]) => `${name} ${method} ${path}`,
  );
  expect(documented.toSorted()).toEqual(
    [...routes, 'health GET /health', 'ready GET /ready', 'openApi GET /openapi.json'].toSorted(),
  );
});

test.each(Object.keys(EXAMPLES))('the example of %s is valid', (name) => {
  expect(SCHEMAS.get(name)?.safeParse(EXAMPLES[name]).error?.issues ?? []).toEqual([]);
});

test('the Aptos networks, chain ids and limits are complete', () => {
  const schemas = (document as { components: { schemas: Record<string, Record<string, never>> } })
    .components.schemas;
  expect(schemas['CreateEvmStream']).toMatchObject({
    type: 'object',
    required: ['webhookUrl', 'description', 'chainIds'],
    additionalProperties: false,
    properties: { chainIds: { items: { type: 'string' }, minItems: 1, maxItems: 100 } },
  });
});

test('a service serves the OpenAPI document', async () => {
  const data = mkdtempSync(join(tmpdir(), 'sluice-openapi-'));
  const service = await startService(
    {
      port: 0,
      host: '127.0.0.1',
      data,
      apiKey: 'openapi-test-key-0123456789',
      chains: [],
      aptos: [],
    },
    createLog(() => {}),
  );
  const response = await fetch(`${service.url}/openapi.json`);
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)));
  await service.stop();
  rmSync(data, { recursive: true });
});

// To update the file:
// `npx vitest run --project service packages/service/src/api/openApi.test.ts --update`.
test('docs/openapi.json is up to date', async () => {
  const path = fileURLToPath(new URL('../../../../docs/openapi.json', import.meta.url));
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(path);
});
