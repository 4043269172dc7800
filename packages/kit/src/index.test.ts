import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import * as contract from './contract/index.ts';
import * as kit from './index.ts';
import * as records from './records/index.ts';
import * as testing from './webhooks/testing.ts';
import * as sluice from './client/sluice.ts';

describe('what the package exports is a decision', () => {
  it('@sluice/kit', () => {
    expect(Object.keys(kit).sort()).toEqual([
      'NeverAgain',
      'RetryLater',
      'SluiceError',
      'createClient',
      'createHandler',
      'createMemorySeenStore',
      'decodeLogs',
      'describeWebhook',
      'diagnose',
      'isAptosWebhook',
      'isSluiceError',
      'unwrap',
      'unwrapNotice',
      'verifySignature',
    ]);
  });

  it('@sluice/kit/sluice', () => {
    expect(Object.keys(sluice).sort()).toEqual([
      'DEFAULT_INBOX_ANSWER',
      'DELIVERY_STATES',
      'JOB_STATES',
      'SluiceError',
      'createSluiceClient',
      'cutText',
      'findDeliveryIds',
      'hashAuditRecord',
      'isInboxName',
      'isShortId',
      'isSluiceError',
      'matchIds',
      'mergeNearMisses',
      'mergeSeen',
      'readInboxName',
      'ruleOfNearMiss',
      'toFixtureName',
      'toInboxUrl',
    ]);
  });

  it('@sluice/kit/records', () => {
    expect(Object.keys(records).sort()).toEqual([
      'SluiceError',
      'isSluiceError',
      'toRecords',
      'toRemovedIds',
    ]);
  });

  it('@sluice/kit/testing and the adapters', async () => {
    const exportsOf = async (entry: string) =>
      Object.keys((await import(`./webhooks/adapters/${entry}.ts`)) as object).sort();
    expect(Object.keys(testing).sort()).toEqual([
      'createFakeSender',
      'sampleAptosWebhook',
      'sampleWebhook',
      'signedHeaders',
      'signedRequest',
    ]);
    expect(await exportsOf('express')).toEqual(['toExpress']);
    expect(await exportsOf('fastify')).toEqual(['toFastify']);
    expect(await exportsOf('hono')).toEqual(['toHono']);
    expect(await exportsOf('node')).toEqual(['toNodeListener']);
  });

  it('@sluice/kit/contract', () => {
    expect(Object.keys(contract).sort()).toEqual([
      'ACTIVITY_STEPS',
      'APTOS_CHAINS',
      'APTOS_NETWORKS',
      'CONTRACT_SCHEDULE_MS',
      'DEFAULT_CONFIRMATIONS',
      'DEFAULT_INBOX_ANSWER',
      'DEFAULT_MAX_WEBHOOK_BYTES',
      'DELIVERY_STATES',
      'EVM_CHAINS',
      'EXPLAIN_KINDS',
      'EXPLAIN_OUTCOMES',
      'EXPLAIN_STAGES',
      'EXPLAIN_VERDICTS',
      'JOB_STATES',
      'KNOWN_EVENTS',
      'MOST_POINTS',
      'PAGE_LIMIT',
      'QUICK_RETRY_MS',
      'REGIONS',
      'REPLAY_STATES',
      'ROUTES',
      'SCOPES',
      'SLUICE_ROUTES',
      'STREAM_CHANGE_KINDS',
      'TEST_APTOS_WEBHOOK',
      'TEST_WEBHOOK',
      'UNDELIVERED',
      'WEBHOOK_HEADERS',
      'abiItemSchema',
      'abiParameterSchema',
      'activityQuerySchema',
      'advancedOptionSchema',
      'aptosAddressesSchema',
      'aptosBackfillSchema',
      'aptosBlockChoiceSchema',
      'aptosDryRunSchema',
      'aptosLabelledAddressesSchema',
      'canonicalType',
      'chainLogQuerySchema',
      'checksumAddress',
      'compileParameters',
      'confirmationsOf',
      'createApiKeySchema',
      'createAptosStreamSchema',
      'createEvmStreamSchema',
      'createReplaySchema',
      'cutText',
      'deliveryFacetsQuerySchema',
      'dryRunBlockSchema',
      'estimateReplaySchema',
      'eventSignature',
      'eventTopic',
      'evmAddressesSchema',
      'evmDryRunSchema',
      'evmLabelledAddressesSchema',
      'explainQuerySchema',
      'findAptosNetwork',
      'findEvmChain',
      'findSignatureProblem',
      'hashAuditRecord',
      'historicalJobSchema',
      'hmacSha256',
      'inboxAnswerSchema',
      'isAddressLabel',
      'isBrief',
      'isInboxName',
      'keccak256',
      'listAddressesQuerySchema',
      'listDeliveriesQuerySchema',
      'listHistoryQuerySchema',
      'listLogsQuerySchema',
      'listQuerySchema',
      'listStreamsQuerySchema',
      'listTapesSchema',
      'nativeBalanceSelectionSchema',
      'padAptosAddress',
      'parseEventSignature',
      'parseRetryAfter',
      'readInboxName',
      'readRetryAfterMs',
      'readStandardWebhookKey',
      'rotateStreamSecretSchema',
      'selectableOf',
      'settingsSchema',
      'shortenMovePath',
      'signStandardWebhook',
      'signWebhook',
      'streamStatusSchema',
      'toAddress',
      'toAptosChain',
      'toAptosNetwork',
      'toChainId',
      'toInboxUrl',
      'toMovePath',
      'triggerSchema',
      'updateAptosStreamSchema',
      'updateEvmStreamSchema',
    ]);
  });
});

/** Every module that a file of ours leads to, types included: they surface in declarations. */
async function modulesOf(entry: URL, seen = new Set<string>()): Promise<Set<string>> {
  seen.add(entry.href);
  const text = await readFile(entry, 'utf8');
  for (const [, specifier = ''] of text.matchAll(/ from '([^']+)'/g)) {
    if (!specifier.startsWith('.')) seen.add(specifier);
    else if (!seen.has(new URL(specifier, entry).href)) {
      await modulesOf(new URL(specifier, entry), seen);
    }
  }
  return seen;
}

describe('what the package leads to', () => {
  it.each(['index.ts', 'client/sluice.ts', 'records/index.ts'])(
    '%s never leads to zod',
    async (entry) => {
      const modules = await modulesOf(new URL(entry, import.meta.url));
      const packages = [...modules].filter((it) => !it.startsWith('file:'));
      expect(packages.every((it) => it === 'abitype' || it.startsWith('@noble/hashes/'))).toBe(
        true,
      );
      expect(modules.size).toBeGreaterThan(5);
    },
  );

  it('only the contract leads to zod', async () => {
    const modules = await modulesOf(new URL('contract/index.ts', import.meta.url));
    expect([...modules]).toContain('zod');
  });
});
