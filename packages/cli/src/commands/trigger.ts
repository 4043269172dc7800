import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describeWebhook } from '@sluice/kit';
import type { AnyWebhook } from '@sluice/kit/contract';
import type { SentDelivery } from '@sluice/kit/testing';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { SAMPLES } from '../families/samples.ts';
import { webhooksLike } from '../families/webhooks.ts';
import { toCount, toPerSecond } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { createSingleSender, findSecret, toLocalUrl } from '../live/forward.ts';
import { setPath } from '../live/setPath.ts';
import { readTransaction } from '../live/readTransaction.ts';
import { STANDARD_EVENTS } from '../live/standardEvents.ts';
import { findStream } from '../streams/findStream.ts';
import { readStream } from '../streams/saveStream.ts';
import { CommandError } from '../terminal/errors.ts';
import { type LinePart, toLine } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

const KINDS = [...Object.keys(SAMPLES), 'transaction'];

export const declareTrigger = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(
    command.addArgument(
      new Argument('<kind>', 'Kind of webhook; transaction requires --from-tx').choices(KINDS),
    ),
  )
    .option('--to <url>', 'Port or URL of the receiver; default: the URL of --stream, or port 3000')
    .option('--stream <stream>', 'Use the ID, tag, ABI and URL of this stream')
    .option(
      '--secret <secret>',
      'Secret to sign with; default: SLUICE_SECRET, or the streams secret of the service',
    )
    .option(
      '--from-tx <hash>',
      'Use the records of a transaction on a chain that the service reads',
    )
    .option(
      '--touching <address>',
      'With --from-tx, use the records with this address; required if there are no token events',
    )
    .option('--set <path=value...>', 'Set a value, e.g. erc20Transfers[0].value=1e18')
    .option('--edit', 'Edit the body in $VISUAL or $EDITOR before sending')
    .option('--confirmed', 'Send only the confirmed delivery (default)')
    .option('--unconfirmed', 'Send only the unconfirmed delivery')
    .option('--both', 'Send the unconfirmed, then the confirmed delivery')
    .option('--reorg', 'Send the unconfirmed delivery, then a removal webhook')
    .option(
      '--unverified <code...>',
      'Mark the webhook as of an unverified block, e.g. receipts-root',
    )
    .option('--count <n>', 'Number of consecutive blocks to send webhooks for', '1')
    .option('--rate <n/s>', 'Maximum rate of blocks', '10/s')
    .addHelpText(
      'after',
      examples(
        'sluice trigger erc20-transfer --both',
        'sluice trigger transaction --from-tx 0x… --to 3000',
      ),
    )
    .action((kind: string, options: TriggerOptions) => trigger(kind, options, terminal));

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
  unverified?: string[];
  count: string;
  rate: string;
}

async function trigger(kind: string, options: TriggerOptions, terminal: Terminal): Promise<void> {
  const count = toCount('--count', options.count, 1);
  const pauseMs = 1_000 / toPerSecond('--rate', options.rate);
  const connectIt = () => connect(options, terminal);
  const { webhook: sample, url } = await compose(kind, options, terminal);
  const webhook = options.edit ? edit(sample, terminal) : sample;
  const secret = await findSecret(options.secret, terminal.env, connectIt);
  const sender = createSingleSender(url, secret, options.unverified);
  let refused = 0;
  let sent = 0;
  const report = (phase: string, body: AnyWebhook, delivery: SentDelivery): void => {
    const { id, delivered, attempts } = delivery;
    const last = attempts.at(-1);
    sent++;
    if (!delivered) refused++;
    if (options.json) {
      terminal.printJson({
        id,
        phase,
        delivered,
        status: last?.status ?? null,
        error: last?.error ?? null,
      });
      return;
    }
    const outcome = delivered ? String(last?.status) : (last?.error ?? '');
    const parts: LinePart[] = [
      delivered
        ? { text: `✓ ${outcome}`, tone: 'ok' }
        : { text: `✗ ${outcome}`, tone: 'bad', cut: 'end' },
      { text: phase },
      { text: `#${body.block.number}` },
      { text: describeWebhook(body), cut: 'end' },
      { text: id.slice(-8), tone: 'faint', optional: true },
    ];
    terminal.print(toLine(terminal, parts));
  };
  for (let at = 0; at < count && !terminal.signal.aborted; at++) {
    if (at > 0) await delay(pauseMs, undefined, { signal: terminal.signal }).catch(() => {});
    const body = at === 0 ? webhook : blocksLater(webhook, at);
    if (body.streamId === '') {
      report('final', body, await sender.send(body));
      continue;
    }
    for await (const [phase, delivery] of webhooksLike(body).send(sender, body, options)) {
      report(phase, body, delivery);
    }
  }
  if (refused > 0 && !terminal.signal.aborted) {
    throw new CommandError(
      'check_failed',
      `${url} did not accept ${refused} of ${sent} webhooks`,
      'respond with 2xx within 15 s; 401 usually means a different secret (sluice verify); for 500, see the log of your app',
    );
  }
}

/** Builds the webhook and the target URL from the options. */
async function compose(
  kind: string,
  options: TriggerOptions,
  terminal: Terminal,
): Promise<{ webhook: AnyWebhook; url: string }> {
  const modes = [options.confirmed, options.unconfirmed, options.both, options.reorg];
  if (modes.filter(Boolean).length > 1) {
    throw new CommandError(
      'usage',
      'Pass only one of --confirmed, --unconfirmed, --both and --reorg',
    );
  }
  if ((kind === 'transaction') !== (options.fromTx !== undefined)) {
    throw new CommandError(
      'usage',
      '--from-tx and the kind "transaction" must be used together',
      'e.g. sluice trigger transaction --from-tx 0x…',
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
  if (kind === 'transaction' || webhook.streamId !== '') {
    // Receivers treat a webhook without a stream ID as a test webhook, so a sample without one gets
    // a random ID.
    webhook.streamId ||= randomUUID();
    if (stream !== undefined) Object.assign(webhook, { streamId: stream.id, tag: stream.tag });
    // Lets a handler that was created without an ABI decode the webhook.
    if ('abi' in webhook) {
      const ofStream = stream !== undefined && 'abi' in stream ? (stream.abi ?? []) : undefined;
      webhook.abi = ofStream ?? STANDARD_EVENTS;
    }
  }
  for (const assignment of options.set ?? []) setPath(webhook, assignment);
  const to = options.to ?? stream?.webhookUrl ?? '3000';
  return { webhook, url: toLocalUrl('--to', to) };
}

/**
 * Creates a sample webhook. Unless it is a test webhook, it gets a block with a new hash, so that
 * handlers that pair deliveries by block treat it as new.
 */
function sampleOf(kind: string): AnyWebhook {
  const sample = SAMPLES[kind]!();
  return sample.streamId === '' ? sample : blocksLater(sample, 0);
}

/** Returns the webhook in a block with a new hash, `blocks` blocks later. */
const blocksLater = (webhook: AnyWebhook, blocks: number): AnyWebhook => {
  const number = BigInt(webhook.block.number || '0') + BigInt(blocks);
  const hash = `0x${randomBytes(32).toString('hex')}`;
  return { ...webhook, block: { ...webhook.block, number: String(number), hash } } as AnyWebhook;
};

function edit(webhook: AnyWebhook, { env }: Terminal): AnyWebhook {
  const editor = env['VISUAL'] ?? env['EDITOR'];
  if (editor === undefined) {
    throw new CommandError(
      'usage',
      '--edit: neither VISUAL nor EDITOR is set',
      'set one, e.g. EDITOR=nano sluice trigger …',
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-edit-'));
  try {
    const path = join(folder, 'webhook.json');
    writeFileSync(path, `${JSON.stringify(webhook, undefined, 2)}\n`);
    const { status } = spawnSync(`${editor} "${path}"`, { shell: true, stdio: 'inherit' });
    if (status !== 0)
      throw new CommandError('usage', `${editor} exited with code ${status}; nothing was sent`);
    return JSON.parse(readFileSync(path, 'utf8')) as AnyWebhook;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
