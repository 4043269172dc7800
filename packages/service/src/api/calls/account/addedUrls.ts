/** Calls for nodes and alert URLs, which can be added while the service runs. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type AlertUrl,
  CHAIN_FORMATS,
  type ChainNode,
  type UrlTestResult,
  familyOf,
} from '@sluice/kit/contract';
import { RetryableError } from '../../../base/errors.ts';
import { isConfigured } from '../../../chains/familyChains.ts';
import type { TestNode } from '../../../chains/testNode.ts';
import type { Config } from '../../../config/config.ts';
import type { TestAlertUrl } from '../../../operate/alerts/testAlertUrl.ts';
import type { AddedUrls, OpenUrl } from '../../../secrets/addedUrls.ts';
import { HttpError, notFound, setAuditTarget } from '../../httpErrors.ts';
import type { Handlers } from '../../handlers.ts';
import { flagOf } from '../../../config/settings.ts';

export interface AddedUrlHandlerNeeds {
  /** URLs of the configured nodes by chain. */
  configuredNodes: ReadonlyMap<string, readonly string[]>;
  configured: Pick<Config, 'notifyUrl'>;
  addedUrls: Pick<AddedUrls, 'read' | 'add' | 'remove'>;
  /** Resolves when the chains are followed with the nodes as changed so far. */
  nodesSettled(): Promise<void>;
  /** Whether calls may add, test and remove nodes and alert URLs. */
  allowsNodeChanges: boolean;
  testNode: TestNode;
  testAlertUrl: TestAlertUrl;
  /** Returns why alerts may not be sent to a URL; undefined if they may. */
  refuseUrl(url: URL): Promise<string | undefined>;
}

/** Maximum number of concurrent tests of nodes and alert URLs. */
const MAX_TESTS = 4;
/**
 * Maximum time that a call waits for its change of nodes, so that the chains which are read next
 * show it. A chain stops only after its current work.
 */
const MAX_SETTLE_MS = 2_000;
const CONFIGURED_ALERT_URL = 'configured';

export function createAddedUrlHandlers(needs: AddedUrlHandlerNeeds) {
  const { configured, configuredNodes, addedUrls, allowsNodeChanges } = needs;
  const { testNode, testAlertUrl, refuseUrl } = needs;
  const fixedNodes = [...configuredNodes].flatMap(([chain, urls]) =>
    urls.map((url, n) => toNode({ id: `${chain}:${n + 1}`, chain, url, createdAt: null })),
  );
  const fixedAlertUrls =
    configured.notifyUrl === undefined
      ? []
      : [toAlertUrl({ id: CONFIGURED_ALERT_URL, url: configured.notifyUrl, createdAt: null })];
  let tests = 0;

  /** @throws HttpError 403 unless `allowNodeChanges` is on */
  const refuseUnlessAllowed = (): void => {
    if (allowsNodeChanges) return;
    throw new HttpError(
      403,
      `Nodes and alert URLs cannot be changed here: restart the service with ${flagOf('allowNodeChanges')}`,
    );
  };

  const runTest = async <Result extends UrlTestResult>(
    test: () => Promise<Result>,
  ): Promise<Result> => {
    if (tests >= MAX_TESTS) {
      throw new RetryableError('unavailable', `${MAX_TESTS} tests are running: try again shortly`);
    }
    tests++;
    try {
      return await test();
    } finally {
      tests--;
    }
  };

  const settle = (): Promise<void> =>
    Promise.race([needs.nodesSettled(), wait(MAX_SETTLE_MS, undefined, { ref: false })]);

  const add = async (chain: string | null, url: string): Promise<OpenUrl> => {
    const added = await addedUrls.add(chain, url);
    if (added === 'duplicate') throw conflict('was already added: use another URL');
    if (added === 'full')
      throw conflict('exceeds the limit of added URLs: remove an added URL first');
    return added;
  };

  return {
    listNodes: () => ({
      result: [
        ...fixedNodes,
        ...addedUrls
          .read()
          .flatMap(({ chain, ...added }) => (chain === null ? [] : [toNode({ ...added, chain })])),
      ],
    }),

    async addNode({ context, body }) {
      refuseUnlessAllowed();
      const { chainId: given, url } = body;
      const known =
        given === undefined
          ? [...configuredNodes.values()].flat()
          : (configuredNodes.get(given) ?? []);
      if (isConfigured(known, url)) {
        throw conflict('is already configured with a flag, a variable or sluice.yaml');
      }
      const { chainId, message } = await runTest(() => testNode(body));
      if (chainId === null) throw refused(message);
      const node = toNode({ ...(await add(chainId, url)), chain: chainId });
      setAuditTarget(context, `${node.id} ${chainId} ${node.host}`);
      await settle();
      return node;
    },

    async testNode({ context, body }) {
      refuseUnlessAllowed();
      const { chainId: given, url } = body;
      setAuditTarget(context, [given, hostOf(url)].filter(Boolean).join(' '));
      const verdict = await runTest(() => testNode(body));
      const { chainId } = verdict;
      if (chainId !== null) setAuditTarget(context, `${chainId} ${hostOf(url)}`);
      return verdict;
    },

    async removeNode({ context, params: { nodeId } }) {
      refuseUnlessAllowed();
      const fixed = fixedNodes.find(({ id }) => id === nodeId);
      if (fixed !== undefined) {
        const { chainId, host } = fixed;
        const { nodeSetting } = CHAIN_FORMATS[familyOf(chainId)];
        throw new HttpError(
          409,
          `The node ${host} of ${chainId} cannot be removed here: remove it from --${nodeSetting}, its variable or sluice.yaml, and restart the service`,
        );
      }
      const removed = await addedUrls.remove('node', nodeId);
      if (removed === undefined) throw notFound('Node');
      setAuditTarget(context, `${nodeId} ${removed.chain} ${hostOf(removed.url)}`);
      await settle();
      return undefined;
    },

    listAlertUrls: () => ({
      result: [
        ...fixedAlertUrls,
        ...addedUrls.read().flatMap((added) => (added.chain === null ? [toAlertUrl(added)] : [])),
      ],
    }),

    async addAlertUrl({ context, body: { url } }) {
      refuseUnlessAllowed();
      if (isConfigured(configured.notifyUrl === undefined ? [] : [configured.notifyUrl], url)) {
        throw conflict(
          `is already configured with ${flagOf('notifyUrl')}, its variable or sluice.yaml`,
        );
      }
      const why = await refuseUrl(new URL(url));
      if (why !== undefined) throw refused(why);
      const added = toAlertUrl(await add(null, url));
      setAuditTarget(context, `${added.id} ${added.host}`);
      return added;
    },

    async testAlertUrl({ context, body: { url } }) {
      refuseUnlessAllowed();
      setAuditTarget(context, hostOf(url));
      return runTest(() => testAlertUrl(url));
    },

    async removeAlertUrl({ context, params: { alertUrlId } }) {
      refuseUnlessAllowed();
      const fixed = fixedAlertUrls.find(({ id }) => id === alertUrlId);
      if (fixed !== undefined) {
        throw new HttpError(
          409,
          `The alert URL at ${fixed.host} cannot be removed here: remove ${flagOf('notifyUrl')}, its variable or its line in sluice.yaml, and restart the service`,
        );
      }
      const removed = await addedUrls.remove('alert', alertUrlId);
      if (removed === undefined) throw notFound('Alert URL');
      setAuditTarget(context, `${alertUrlId} ${hostOf(removed.url)}`);
      return undefined;
    },
  } satisfies Partial<Handlers>;
}

// Responses contain only the host of a URL, because its other parts may contain keys.
const hostOf = (url: string): string => new URL(url).host;

type Entry = Pick<OpenUrl, 'id' | 'url'> & { createdAt: number | null };

const toAlertUrl = ({ id, url, createdAt }: Entry): AlertUrl => ({
  id,
  host: hostOf(url),
  source: createdAt === null ? 'configured' : 'added',
  addedAt: createdAt,
});

const toNode = ({ chain, ...entry }: Entry & { chain: string }): ChainNode => ({
  ...toAlertUrl(entry),
  chainId: chain,
});

/** Creates a 409 about a URL, without the URL itself, which may contain keys. */
const conflict = (message: string): HttpError =>
  new HttpError(409, `The URL ${message}`, { 'requestBody.url': { message } });

const refused = (message: string): HttpError =>
  new HttpError(422, 'Validation Failed', { 'requestBody.url': { message } });
