/** The interface of a cluster of brokers, whatever their kind, in the tests of faults of queues. */
import type { FaultProxy } from '@sluice/testkit';

export interface FaultServer {
  readonly name: string;
  readonly network: FaultProxy | undefined;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  start(): Promise<void>;
}

/** Three servers with one replicated queue. */
export interface FaultBroker {
  /** Webhook URL of the queue. */
  readonly url: string;
  readonly servers: readonly FaultServer[];
  /** Returns the number of messages in the queue; undefined while the cluster does not respond. */
  count(): Promise<number | undefined>;
  /** Returns whether the queue has a leader and all replicas have its messages. */
  isReplicated(): Promise<boolean>;
  /** Rejects messages once the queue has this number of them; no limit if undefined. */
  limitTo(count: number | undefined): Promise<void>;
  /** Returns the name of the server that leads the queue. */
  leader(): Promise<string>;
  /** Returns the number of messages by their `webhook-id`. */
  readIds(): Promise<Map<string, number>>;
  /**
   * Returns whether the broker confirmed a message at a position that has another message now, or
   * none. Only for brokers that lose what they confirmed.
   *
   * @param confirmation the broker's confirmation, as the attempt of the delivery shows it
   */
  hasLost?(id: string, confirmation: string): Promise<boolean>;
  stop(): Promise<void>;
}
