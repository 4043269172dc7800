import type { AnyWebhook } from '@sluice/kit/contract';
import type { FakeSender, SentDelivery } from '@sluice/kit/testing';
import type { Connection } from '../connection/connection.ts';

/** Which deliveries of a webhook are sent. */
export interface SentPhases {
  readonly unconfirmed?: boolean | undefined;
  readonly both?: boolean | undefined;
  readonly reorg?: boolean | undefined;
}

/** How the command line reads and sends the webhooks of one chain family. */
export interface WebhookFamily<Webhook extends AnyWebhook> {
  /** Returns the webhook with only the records of one transaction; undefined if there are none. */
  onlyOf(webhook: Webhook, transactionHash: string): Webhook | undefined;
  /** Returns the position of a webhook among those of its block. */
  turnOf(webhook: Webhook): number;
  /** Describes the block and phase of a webhook. */
  describePhase(webhook: Webhook): string;
  /** Describes the trigger results and balances. */
  readingsOf(webhook: Webhook): string[];
  /**
   * Returns the decoded logs.
   *
   * @throws CommandError if the webhooks of the family have none.
   */
  decode(webhook: Webhook): unknown;
  /** Sends the deliveries of a webhook, each with the name of its phase. */
  send(
    sender: FakeSender,
    webhook: Webhook,
    phases: SentPhases,
  ): AsyncIterable<[phase: string, delivery: SentDelivery]>;
  /** Reads a transaction as the webhook that a stream would send. */
  readTransaction(
    connection: Pick<Connection, 'api'>,
    transaction: FoundTransaction,
  ): Promise<Webhook>;
}

/** A transaction, and the connection to the service that has it. */
export interface FoundTransaction {
  readonly hash: string;
  readonly chainId: string;
  readonly blockNumber: number;
  /** The sender, the recipient, a contract that emitted a log, or an address in a log's topics. */
  readonly touching: string | undefined;
}
