/**
 * Offline tools to test webhook handlers (`@sluice/kit/testing`): sample webhooks, signed requests,
 * and a sender that retries like the service.
 */
import {
  CONTRACT_SCHEDULE_MS,
  isBrief,
  FAST_RETRY_MS,
  readRetryAfterMs,
} from '../contract/rules/schedule.ts';
import { signStandardWebhook, signWebhook, WEBHOOK_HEADERS } from '../contract/rules/signature.ts';
import { TEST_APTOS_WEBHOOK, TEST_WEBHOOK } from '../contract/rules/testWebhooks.ts';
import type { AnyUnverifiedCode } from '../contract/unverified.ts';
import type {
  AptosCoinMovement,
  AptosWebhook,
  EvmWebhook,
  WebhookErc20Transfer,
  WebhookLog,
  WebhookTransaction,
} from '../contract/shapes.generated.ts';
import { signWithPrivateKey } from './testingKeys.ts';

export * from './testingKeys.ts';

/**
 * Kinds of webhooks that {@link sampleWebhook} creates. `test` is the test webhook, which the
 * service sends to each new URL.
 */
export type SampleKind =
  | 'erc20-transfer'
  | 'erc20-approval'
  | 'erc721-transfer'
  | 'erc1155-transfer'
  | 'erc1155-batch-transfer'
  | 'nft-approval-for-all'
  | 'native-transfer'
  | 'internal-transfer'
  | 'test';

/**
 * Creates a confirmed Ethereum webhook as the service sends it, with one log, transaction or
 * internal transaction of this kind and the records decoded from it. The kind `test` has no
 * records. Returns a new object each time; the fields in `change` replace its fields.
 *
 * @example sampleWebhook('erc20-transfer', { confirmed: false, streamId })
 */
export function sampleWebhook(kind: SampleKind, change: Partial<EvmWebhook> = {}): EvmWebhook {
  return structuredClone(
    kind === 'test' ? { ...TEST_WEBHOOK, ...change } : { ...FRAME, ...SAMPLES[kind], ...change },
  );
}

/** Kinds of webhooks that {@link sampleAptosWebhook} creates; see {@link SampleKind}. */
export type AptosSampleKind = 'coin-transfer' | 'test';

/**
 * Creates an Aptos mainnet webhook as the service sends it, with one coin transfer and the records
 * derived from it. The kind `test` has no records. Returns a new object each time; the fields in
 * `change` replace its fields.
 *
 * @example sampleAptosWebhook('coin-transfer', { tag: 'wallet' })
 */
export function sampleAptosWebhook(
  kind: AptosSampleKind,
  change: Partial<AptosWebhook> = {},
): AptosWebhook {
  return structuredClone({ ...(kind === 'test' ? TEST_APTOS_WEBHOOK : APTOS_SAMPLE), ...change });
}

/** Options of a signature: the secret, id, time and sender. */
export interface SigningOptions {
  /** The streams secret, or the API key if the account has no streams secret. */
  secret: string;
  /** The delivery's id. Default: a new UUID. */
  id?: string | undefined;
  /** Time at which the request is sent. Default: now. */
  sentAt?: Date | undefined;
  /**
   * The sender to imitate. `sluice` sends `webhook-signature` and `x-signature`; `hosted`, the
   * hosted Streams API, sends only `x-signature`, without an id or timestamp. Default: `sluice`.
   */
  sender?: 'sluice' | 'hosted' | undefined;
  /** Codes of an unverified block, for the header `x-sluice-unverified`. Default: none. */
  unverified?: readonly AnyUnverifiedCode[] | undefined;
}

/** Options of {@link signedRequest}: a webhook or any other text, and how to sign it. */
export type SignedRequestOptions = SigningOptions & {
  /** Target URL. Default: `http://localhost/webhooks`. */
  url?: string | undefined;
} & (
    | { webhook: EvmWebhook | AptosWebhook; body?: undefined }
    | {
        /** Any text to sign instead of a webhook. */
        body: string;
        webhook?: undefined;
      }
  );

/** Creates a signed POST request with a webhook or another text, to pass to a handler. */
export function signedRequest({ url, webhook, body, ...signing }: SignedRequestOptions): Request {
  const text = body ?? JSON.stringify(webhook);
  return new Request(url ?? 'http://localhost/webhooks', {
    method: 'POST',
    headers: signedHeaders(text, signing, webhook),
    body: text,
  });
}

/**
 * Creates the headers of a signed request, for other test clients (`app.inject`, supertest).
 * @param body the request body, exactly as sent
 * @param webhook the webhook in the body; sets `x-records-charged`, which is 0 without it
 */
export function signedHeaders(
  body: string,
  signing: SigningOptions,
  webhook?: EvmWebhook | AptosWebhook,
): Record<string, string> {
  const { secret, id = crypto.randomUUID(), sentAt = new Date(), sender = 'sluice' } = signing;
  const unverified = signing.unverified?.join(', ');
  const timestamp = Math.floor(sentAt.getTime() / 1000);
  return {
    'content-type': 'application/json',
    [WEBHOOK_HEADERS.signature]: signWebhook(body, secret),
    [WEBHOOK_HEADERS.region]: 'test',
    [WEBHOOK_HEADERS.queueSize]: '0',
    [WEBHOOK_HEADERS.recordsCharged]: String(webhook ? recordsCharged(webhook) : 0),
    ...(unverified && { [WEBHOOK_HEADERS.unverified]: unverified }),
    ...(sender === 'sluice' && {
      [WEBHOOK_HEADERS.id]: id,
      [WEBHOOK_HEADERS.timestamp]: String(timestamp),
      [WEBHOOK_HEADERS.standardSignature]: signStandardWebhook({ id, timestamp, body, secret }),
    }),
  };
}

function recordsCharged(webhook: EvmWebhook | AptosWebhook): number {
  if ('transactions' in webhook) return webhook.transactions.length + webhook.events.flat().length;
  const { confirmed, txs, logs, txsInternal } = webhook;
  return confirmed ? txs.length + logs.length + txsInternal.length : 0;
}

/** Options of {@link createFakeSender}. */
export interface FakeSenderOptions extends Omit<SigningOptions, 'id' | 'sentAt'> {
  /** A URL, or the handler itself. */
  to: string | URL | ((request: Request) => Response | Promise<Response>);
  /** Private key that also signs, from {@link createKeyPair}. */
  privateKey?: string | undefined;
  /**
   * The waits between attempts; there is one more attempt than waits. Default: 1 min, 10 min, 1 h,
   * 2 h, 6 h, 12 h and 24 h. With the default, a first attempt that got a 5xx or no response is
   * also retried after 5 s, unless `sender` is `hosted`. The test webhook is sent only once.
   * @unit milliseconds
   */
  scheduleMs?: readonly number[] | undefined;
  /**
   * Timeout of an attempt.
   * @unit milliseconds
   * @defaultValue 15_000
   */
  timeoutMs?: number | undefined;
  /** Called to wait between attempts. Default: does not wait. */
  wait?: ((ms: number) => Promise<void>) | undefined;
  /** Sends the requests if `to` is a URL. Default: `globalThis.fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** An attempt to deliver a webhook, and its result. */
export interface SentAttempt {
  /** HTTP status; null without a complete response. */
  readonly status: number | null;
  /** Body of the response; empty without a complete response. */
  readonly body: string;
  /** Reason for the failure; undefined for a 2xx. */
  readonly error: string | undefined;
  /**
   * Time that the service would wait after this attempt, in milliseconds, without the random
   * extra of up to 10%; undefined after the last attempt.
   */
  readonly waitMs: number | undefined;
}

/** A delivery with all its attempts. */
export interface SentDelivery {
  readonly id: string;
  /** Whether an attempt got a 2xx. */
  readonly delivered: boolean;
  readonly attempts: readonly SentAttempt[];
}

/** Sender that delivers webhooks like the service. */
export interface FakeSender {
  /**
   * Delivers a webhook: POSTs it until it gets a 2xx or the schedule ends. Attempts share the id,
   * but each one has its own `retries`, timestamp and signature. To send a duplicate, call `send`
   * again with the same `id`. Failed attempts do not reject the promise.
   */
  send(
    webhook: EvmWebhook | AptosWebhook,
    options?: { id?: string | undefined },
  ): Promise<SentDelivery>;
  /** Delivers the unconfirmed webhook of a block, then the confirmed one. */
  sendPair(webhook: EvmWebhook): Promise<{ unconfirmed: SentDelivery; confirmed: SentDelivery }>;
  /** Delivers the removal webhook that revokes this webhook. */
  sendRemoved(webhook: EvmWebhook): Promise<SentDelivery>;
}

/** Creates a sender that delivers and retries like the service. */
export function createFakeSender({
  to,
  secret,
  privateKey,
  sender,
  unverified,
  scheduleMs,
  timeoutMs = 15_000,
  wait = () => Promise.resolve(),
  fetch = globalThis.fetch,
}: FakeSenderOptions): FakeSender {
  const url = typeof to === 'function' ? undefined : String(to);

  const attempt = async (webhook: EvmWebhook | AptosWebhook, id: string) => {
    const signed = signedRequest({ url, webhook, secret, id, sender, unverified });
    const full = privateKey === undefined ? signed : await signWithPrivateKey(signed, privateKey);
    const signal = AbortSignal.timeout(timeoutMs);
    const request = new Request(full, { redirect: 'manual', signal });
    try {
      const responding = Promise.resolve(typeof to === 'function' ? to(request) : fetch(request));
      const response = await unlessAborted(responding, signal);
      // As in the service, the status decides even if the body is cut or never ends.
      const body = await unlessAborted(response.text(), signal).catch(() => '');
      const error = response.ok ? undefined : `HTTP ${response.status}`;
      const { status } = response;
      const retryAfter = response.headers.get('retry-after');
      const retryAfterMs = readRetryAfterMs(status, retryAfter, Date.now()) ?? 0;
      return { status, body, error, retryAfterMs };
    } catch (error) {
      const why = signal.aborted ? `no complete response within ${timeoutMs} ms` : toWord(error);
      return { status: null, body: '', error: why, retryAfterMs: 0 };
    }
  };

  const send: FakeSender['send'] = async (webhook, { id = crypto.randomUUID() } = {}) => {
    const attempts: SentAttempt[] = [];
    let schedule = webhook.streamId === '' ? [] : (scheduleMs ?? CONTRACT_SCHEDULE_MS);
    for (;;) {
      const retries = attempts.length;
      const { retryAfterMs, ...result } = await attempt({ ...webhook, retries }, id);
      if (retries === 0 && isQuick(webhook, result.status)) schedule = [FAST_RETRY_MS, ...schedule];
      const scheduled = schedule[retries];
      const isLast = result.error === undefined || scheduled === undefined;
      const waitMs = isLast ? undefined : Math.max(scheduled, retryAfterMs);
      attempts.push({ ...result, waitMs });
      if (waitMs === undefined) return { id, delivered: result.error === undefined, attempts };
      await wait(waitMs);
    }
  };

  const isQuick = ({ streamId }: { streamId: string }, status: number | null): boolean =>
    sender !== 'hosted' && scheduleMs === undefined && streamId !== '' && isBrief(status);

  return {
    send,
    async sendPair(webhook) {
      const unconfirmed = await send({ ...webhook, confirmed: false });
      return { unconfirmed, confirmed: await send({ ...webhook, confirmed: true }) };
    },
    sendRemoved(webhook) {
      const { confirmed: _, ...rest } = webhook;
      // Puts `removed` directly after `confirmed`, as the service does.
      return send({ confirmed: false, removed: true, ...rest });
    },
  };
}

/** Returns the code of an error's cause. The message of a fetch error is only "fetch failed". */
function toWord(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(error);
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    promise.then(resolve, reject);
  });
}

// Fields of all samples. The log of each decoded event in a sample is also in `logs`.
const FRAME: EvmWebhook = {
  confirmed: true,
  chainId: '0x1',
  abi: [],
  streamId: '6c86e9ed-0a93-4f8f-af4d-929ee8918bbb',
  tag: 'sample',
  retries: 0,
  block: {
    number: '16225662',
    hash: '0x36a8359fa2eaff57364158247dff17d80c053096ad9c54d1c27f4768974f552b',
    timestamp: '1671536351',
  },
  logs: [],
  txs: [],
  txsInternal: [],
  erc20Transfers: [],
  erc20Approvals: [],
  nftTokenApprovals: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nftTransfers: [],
  nativeBalances: [],
};

const ALICE = '0x0a1ad77312d36459179ad622c2a8a6280cc79419';
const BOB = '0xc5b4ffe6e645fa7ae5c8bb061870907e5f314c14';
/** The addresses that the stream of the samples watches. */
const WATCHED = [ALICE];
const TRANSACTION = '0x8b7ed07563c2e679b9b49e2e0b62d1fe8a37c2f6c6d43a6ed072d1fc9ac15a22';
const ORIGIN = { transactionHash: TRANSACTION, logIndex: '361' };

const USDC = {
  contract: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  tokenName: 'USD Coin',
  tokenSymbol: 'USDC',
  tokenDecimals: '6',
  possibleSpam: false,
};
const APES = {
  contract: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d',
  tokenName: 'BoredApeYachtClub',
  tokenSymbol: 'BAYC',
  tokenContractType: 'ERC721',
};
const STOREFRONT = {
  contract: '0x495f947276749ce646f68ac8c248420045cb7b5e',
  tokenName: 'OpenSea Shared Storefront',
  tokenSymbol: 'OPENSTORE',
  tokenContractType: 'ERC1155',
};

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31';

const word = (value: string | bigint): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');

const logOf = (address: string, topics: readonly string[], ...data: bigint[]): WebhookLog => {
  const [topic0 = null, ...indexed] = topics;
  const [topic1 = null, topic2 = null, topic3 = null] = indexed.map((it) => `0x${word(it)}`);
  const { transactionHash, logIndex } = ORIGIN;
  const words = `0x${data.map(word).join('')}`;
  return {
    logIndex,
    transactionHash,
    address,
    data: words,
    topic0,
    topic1,
    topic2,
    topic3,
    triggered_by: WATCHED,
  };
};

const nativeTransfer: WebhookTransaction = {
  hash: TRANSACTION,
  gas: '21000',
  gasPrice: '14730818000',
  nonce: '7',
  input: '0x',
  transactionIndex: '42',
  fromAddress: ALICE,
  toAddress: BOB,
  value: '100000000000000000',
  type: '2',
  v: '0',
  r: '9001253475243653702017016519257145538419454360627742044622070949800375057415',
  s: '21207930346202371260508142926393852886912381606567500827202803519435539899509',
  receiptCumulativeGasUsed: '7724173',
  receiptGasUsed: '21000',
  receiptContractAddress: null,
  receiptRoot: null,
  receiptStatus: '1',
  transactionFee: '0.000309347178',
  triggered_by: WATCHED,
};

const AMOUNT = { value: '250000000', valueWithDecimals: '250' };
const { contract, ...usdc } = USDC;
const erc20Transfer: WebhookErc20Transfer = {
  ...ORIGIN,
  contract,
  triggered_by: WATCHED,
  ...usdc,
  ...AMOUNT,
  from: ALICE,
  to: BOB,
};

const nftMove = { ...ORIGIN, from: ALICE, to: BOB, possibleSpam: false };
const approvalForAll = { ...ORIGIN, ...STOREFRONT, account: ALICE, operator: BOB };

const SAMPLES: Record<Exclude<SampleKind, 'test'>, Partial<EvmWebhook>> = {
  'erc20-transfer': {
    logs: [logOf(USDC.contract, [TRANSFER, ALICE, BOB], 250_000_000n)],
    erc20Transfers: [erc20Transfer],
  },
  'erc20-approval': {
    logs: [logOf(USDC.contract, [APPROVAL, ALICE, BOB], 250_000_000n)],
    erc20Approvals: [{ ...ORIGIN, ...USDC, ...AMOUNT, owner: ALICE, spender: BOB }],
  },
  'erc721-transfer': {
    logs: [logOf(APES.contract, [TRANSFER, ALICE, BOB, '0xb83'])],
    nftTransfers: [{ ...nftMove, ...APES, operator: null, tokenId: '2947', amount: '1' }],
  },
  'erc1155-transfer': {
    logs: [logOf(STOREFRONT.contract, [TRANSFER_SINGLE, ALICE, ALICE, BOB], 7n, 3n)],
    nftTransfers: [{ ...nftMove, ...STOREFRONT, operator: ALICE, tokenId: '7', amount: '3' }],
  },
  'erc1155-batch-transfer': {
    logs: [
      // The offsets of the lists of token ids and amounts, then the length and values of each list.
      logOf(
        STOREFRONT.contract,
        [TRANSFER_BATCH, ALICE, ALICE, BOB],
        ...[64n, 160n],
        ...[2n, 7n, 8n],
        ...[2n, 3n, 4n],
      ),
    ],
    nftTransfers: [
      { ...nftMove, ...STOREFRONT, operator: ALICE, tokenId: '7', amount: '3' },
      { ...nftMove, ...STOREFRONT, operator: ALICE, tokenId: '8', amount: '4' },
    ],
  },
  'nft-approval-for-all': {
    logs: [logOf(STOREFRONT.contract, [APPROVAL_FOR_ALL, ALICE, BOB], 1n)],
    nftTokenApprovals: [{ ...approvalForAll, approvedAll: true, tokenId: null }],
    nftApprovals: { ERC721: [], ERC1155: [{ ...approvalForAll, approved: true }] },
  },
  'native-transfer': { txs: [nativeTransfer] },
  'internal-transfer': {
    txsInternal: [
      {
        from: ALICE,
        to: BOB,
        value: '2419488490784747',
        gas: '212199',
        transactionHash: TRANSACTION,
        internalTransactionIndex: '0',
      },
    ],
  },
};

const APTOS_ALICE = '0x498ca57f59f63d12b4ea96e77f1de2a839fdbbd1ce4e39c0e78da708758b91aa';
const APTOS_BOB = '0xe564aa362c7a9786eb7c72d2671b7398cb5a75b9fb1210fbd84cd05d691e44d3';
const APTOS_TRANSACTION = '0x512627652e226ba53f038c8c25695aaae66b3ed476f4ceb4be7c5bb686d35811';
const APT = {
  decimals: 8,
  name: 'Aptos Coin',
  symbol: 'APT',
  type: `0x${'a'.padStart(64, '0')}`,
};
const movedAt = (address: string): AptosCoinMovement => ({
  value: '150000000',
  address,
  coin: APT,
  valueWithDecimals: 1.5,
  sequenceNumber: '0',
  txHash: APTOS_TRANSACTION,
});

const APTOS_SAMPLE: AptosWebhook = {
  streamId: 'aa3e4721-be91-4919-8649-d46d5c2a21f7',
  tag: 'sample',
  network: 'mainnet',
  block: {
    number: '27827628',
    timestamp: '1674578824913485',
    hash: '0x3ceea5072b32371f3f5cc0a89c06ca641627583698b7f6d3a5e1a23468b5c2a0',
    firstVersion: '75418334',
    lastVersion: '75418336',
  },
  retries: 0,
  coinTransfers: [
    {
      coin: { ...APT, type: `0x${'1'.padStart(64, '0')}::aptos_coin::AptosCoin` },
      to: APTOS_BOB,
      value: '150000000',
      from: APTOS_ALICE,
      valueWithDecimals: 1.5,
      transaction: APTOS_TRANSACTION,
      txHash: APTOS_TRANSACTION,
    },
  ],
  coinDeposits: [movedAt(APTOS_BOB)],
  coinWithdrawals: [movedAt(APTOS_ALICE)],
  transactions: [
    {
      gasLimit: '1762',
      gasUnitPrice: '120',
      gasUsed: '1175',
      hash: APTOS_TRANSACTION,
      stateChangeHash: '0x08fd784ebe37618af6d14fed695d2e928f776db7e317f222a02bcf92129a7c87',
      eventChangeHash: '0x9c4de2e4395185631ffb67407c1e74fc5ca850874146950a75948ee4373a611f',
      success: true,
      type: 'user_transaction',
      sender: APTOS_ALICE,
    },
  ],
  changes: [],
  payloads: [],
  events: [],
};
