import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AptosWebhook, type EvmWebhook, describeWebhook, isAptosWebhook } from '@sluice/kit';
import {
  type AptosSampleKind,
  type SampleKind,
  type SentDelivery,
  sampleAptosWebhook,
  sampleWebhook,
} from '@sluice/kit/testing';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toCount, toPerSecond } from '../flags/durations.ts';
import { createSingleSender, findSecret, toLocalUrl } from '../live/forward.ts';
import { setPath } from '../live/setPath.ts';
import { readTransaction } from '../live/readTransaction.ts';
import { STANDARD_EVENTS } from '../live/standardEvents.ts';
import { findStream } from '../streams/findStream.ts';
import { readStream } from '../streams/saveStream.ts';
import { CommandError } from '../terminal/errors.ts';
import { type Part, toLine } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

const EVM_KINDS = [
  'erc20-transfer',
  'erc20-approval',
  'erc721-transfer',
  'erc1155-transfer',
  'erc1155-batch-transfer',
  'nft-approval-for-all',
  'native-transfer',
  'internal-transfer',
  'test',
] as const satisfies SampleKind[];
const KINDS = [...EVM_KINDS, 'aptos-coin-transfer', 'aptos-test', 'transaction'] as const;

export const declareTrigger = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(
    command.addArgument(
      new Argument('<kind>', 'what it is about; transaction: see --from-tx').choices(KINDS),
    ),
  )
    .option('--to <url>', 'port or URL of the receiver; default: of --stream, else port 3000')
    .option('--stream <stream>', 'as if it came from this one: its id, tag, ABI and URL')
    .option('--secret <secret>', 'signs it; default: SLUICE_SECRET, else that of the service')
    .option('--from-tx <hash>', 'records of a transaction on a chain the service follows')
    .option('--touching <address>', 'with --from-tx: one it touches, where it moves no token')
    .option('--set <path=value...>', 'erc20Transfers[0].value=5; numbers as 1e18, too')
    .option('--edit', 'open it in $EDITOR first')
    .option('--confirmed', 'the confirmed delivery alone, as without any of these')
    .option('--unconfirmed', 'the unconfirmed one alone')
    .option('--both', 'unconfirmed, then confirmed')
    .option('--reorg', 'unconfirmed, then the notice that its block left the chain')
    .option('--count <n>', 'so many, a block apart', '1')
    .option('--rate <n/s>', 'no faster than that', '10/s')
    .action((kind: (typeof KINDS)[number], options: TriggerOptions) =>
      trigger(kind, options, terminal),
    );

interface TriggerOptions extends ConnectionOptions {
  to?: string;
  stream?: string;
  secret?: string;
  fromTx?: string;
  touching?: string;
  set?: string[];
  edit?: boolean;
  confirmed?: boolean;
  unconfirmed?: boolean;
  both?: boolean;
  reorg?: boolean;
  count: string;
  rate: string;
}

type Webhook = EvmWebhook | AptosWebhook;

async function trigger(
  kind: (typeof KINDS)[number],
  options: TriggerOptions,
  terminal: Terminal,
): Promise<void> {
  const count = toCount('--count', options.count, 1);
  const pauseMs = 1_000 / toPerSecond('--rate', options.rate);
  const connectIt = () => connect(options, terminal);
  const { webhook: sample, url } = await compose(kind, options, terminal);
  const webhook = options.edit ? edit(sample, terminal) : sample;
  const secret = await findSecret(options.secret, terminal.env, connectIt);
  const sender = createSingleSender(url, secret);
  let refused = 0;
  let sent = 0;
  const tell = (phase: string, body: Webhook, delivery: SentDelivery): void => {
    const { id, delivered, attempts } = delivery;
    const last = attempts.at(-1);
    sent++;
    if (!delivered) refused++;
    if (options.json) {
      terminal.sayJson({
        id,
        phase,
        delivered,
        status: last?.status ?? null,
        error: last?.error ?? null,
      });
      return;
    }
    const outcome = delivered ? String(last?.status) : (last?.error ?? '');
    const parts: Part[] = [
      delivered
        ? { text: `✓ ${outcome}`, tone: 'ok' }
        : { text: `✗ ${outcome}`, tone: 'bad', cut: 'end' },
      { text: phase },
      { text: `#${body.block.number}` },
      { text: describeWebhook(body), cut: 'end' },
      { text: id.slice(-8), tone: 'faint', optional: true },
    ];
    terminal.say(toLine(terminal, parts));
  };
  for (let at = 0; at < count && !terminal.signal.aborted; at++) {
    if (at > 0) await delay(pauseMs, undefined, { signal: terminal.signal }).catch(() => {});
    const body = at === 0 ? webhook : blocksLater(webhook, at);
    if (isAptosWebhook(body) || kind === 'test') {
      tell('final', body, await sender.send(body));
      continue;
    }
    const first = options.both || options.reorg || options.unconfirmed;
    if (first) tell('unconfirmed', body, await sender.send({ ...body, confirmed: false }));
    if (options.reorg) tell('removed', body, await sender.sendRemoved(body));
    else if (options.both || !first) {
      tell('confirmed', body, await sender.send({ ...body, confirmed: true }));
    }
  }
  if (refused > 0 && !terminal.signal.aborted) {
    throw new CommandError(
      'check_failed',
      `${refused} of ${sent} were not taken by ${url}`,
      'a receiver answers 2xx within 15 s; 401 most often means another secret (sluice verify), 500 is told by its own log',
    );
  }
}

/** The webhook that is asked for, and where it goes. */
async function compose(
  kind: (typeof KINDS)[number],
  options: TriggerOptions,
  terminal: Terminal,
): Promise<{ webhook: Webhook; url: string }> {
  const modes = [options.confirmed, options.unconfirmed, options.both, options.reorg];
  if (modes.filter(Boolean).length > 1) {
    throw new CommandError(
      'usage',
      '--confirmed, --unconfirmed, --both and --reorg exclude each other',
    );
  }
  if ((kind === 'transaction') !== (options.fromTx !== undefined)) {
    throw new CommandError(
      'usage',
      '--from-tx and the kind "transaction" belong together',
      'sluice trigger transaction --from-tx 0x…',
    );
  }
  const connection =
    options.stream === undefined && options.fromTx === undefined
      ? undefined
      : connect(options, terminal);
  const stream =
    options.stream === undefined || connection === undefined
      ? undefined
      : await readStream(connection.api, await findStream(connection, options.stream));
  const webhook =
    options.fromTx !== undefined && connection !== undefined
      ? await readTransaction(connection, options.fromTx, options.touching)
      : sampleOf(kind);
  if (kind !== 'test' && kind !== 'aptos-test') {
    // A receiver takes one without a stream for a test webhook.
    webhook.streamId ||= randomUUID();
    if (stream !== undefined) Object.assign(webhook, { streamId: stream.id, tag: stream.tag });
    // So that a handler without an ABI of its own can decode it.
    if ('abi' in webhook) {
      const ofStream = stream !== undefined && 'abi' in stream ? (stream.abi ?? []) : undefined;
      webhook.abi = ofStream ?? STANDARD_EVENTS;
    }
  }
  for (const assignment of options.set ?? []) setPath(webhook, assignment);
  const to = options.to ?? stream?.webhookUrl ?? '3000';
  return { webhook, url: toLocalUrl('--to', to) };
}

/** In a block of its own: a handler that pairs deliveries by their block takes each run for news. */
function sampleOf(kind: (typeof KINDS)[number]): Webhook {
  const sample = kind.startsWith('aptos-')
    ? sampleAptosWebhook(kind.slice('aptos-'.length) as AptosSampleKind)
    : sampleWebhook(kind as SampleKind);
  return sample.streamId === '' ? sample : blocksLater(sample, 0);
}

/** Another block of the same chain. */
const blocksLater = (webhook: Webhook, blocks: number): Webhook => {
  const number = BigInt(webhook.block.number || '0') + BigInt(blocks);
  const hash = `0x${randomBytes(32).toString('hex')}`;
  return { ...webhook, block: { ...webhook.block, number: String(number), hash } } as Webhook;
};

function edit(webhook: Webhook, { env }: Terminal): Webhook {
  const editor = env['VISUAL'] ?? env['EDITOR'];
  if (editor === undefined) {
    throw new CommandError(
      'usage',
      '--edit: neither VISUAL nor EDITOR is set',
      'EDITOR=nano sluice trigger …',
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-edit-'));
  try {
    const path = join(folder, 'webhook.json');
    writeFileSync(path, `${JSON.stringify(webhook, undefined, 2)}\n`);
    const { status } = spawnSync(`${editor} "${path}"`, { shell: true, stdio: 'inherit' });
    if (status !== 0)
      throw new CommandError('usage', `${editor} ended with ${status}; nothing was sent`);
    return JSON.parse(readFileSync(path, 'utf8')) as Webhook;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
