/** Matches a past block against a stream. */
import type { AptosWebhook, EvmWebhook } from '@sluice/kit';
import type {
  AptosDryRun,
  AptosNetwork,
  CloseMatch,
  EvmDryRun,
  StreamSummary,
} from '@sluice/kit/sluice';
import type { Connection } from '../connection/connection.ts';
import { onlyOf, onlyOfAptos } from '../live/readTransaction.ts';
import { readAddresses } from './addresses.ts';
import type { Observed } from './describeDryRun.ts';
import { readStream } from './saveStream.ts';
import { type Fields, familyOf, toFields } from './streamFields.ts';

/** The fields and addresses of a stream, which may not exist yet. */
export interface Wanted {
  fields: Fields;
  addresses: string[];
}

/** Reads the fields and addresses of an existing stream. */
export async function readWanted(
  { api }: Connection,
  stream: Pick<StreamSummary, 'id' | 'family'>,
): Promise<Wanted> {
  return {
    fields: toFields(await readStream(api, stream)),
    addresses: [...(await readAddresses(api, stream)).keys()],
  };
}

const MATCHING_FIELDS = {
  evm: [
    'tag',
    'topic0',
    'allAddresses',
    'includeNativeTxs',
    'includeContractLogs',
    'includeInternalTxs',
    'includeAllTxLogs',
    'filterPossibleSpamAddresses',
    'abi',
    'advancedOptions',
    'triggers',
    'getNativeBalances',
  ] satisfies (keyof EvmDryRun)[],
  aptos: [
    'tag',
    'functions',
    'events',
    'includePayload',
    'includeEvents',
    'includeChanges',
    'allAddresses',
  ] satisfies (keyof AptosDryRun)[],
} as const;

interface Question extends Wanted {
  chain: string;
  block: number;
  /** Hash of a transaction. If set, the webhook contains only records of this transaction. */
  tx: string | undefined;
}

interface Answer {
  /** The webhook; null if nothing matches. */
  webhook: EvmWebhook | AptosWebhook | null;
  /** Close matches; always empty on Aptos. */
  closeMatches: CloseMatch[];
  observed: Observed[];
}

/** Matches one block. Nothing is sent or stored. */
export async function matchBlock(
  { sluice }: Connection,
  { chain, block, fields, addresses, tx }: Question,
): Promise<Answer> {
  const family = familyOf(fields);
  const names: readonly string[] = MATCHING_FIELDS[family];
  const matching = Object.fromEntries(
    Object.entries(fields).filter(([name]) => names.includes(name)),
  );
  const asked = { block, addresses, ...matching };
  const isComplete = tx === undefined;
  if (family === 'aptos') {
    const { webhook, observed } = await sluice.dryRunAptos(chain as AptosNetwork, asked);
    const its = webhook === null || isComplete ? webhook : onlyOfAptos(webhook, tx);
    return { webhook: its ?? null, closeMatches: [], observed };
  }
  const { webhook, closeMatches, observed } = await sluice.dryRunEvm(chain, asked);
  const its = webhook === null || isComplete ? webhook : onlyOf(webhook, tx);
  return { webhook: its ?? null, closeMatches, observed };
}
