/** The part of a chain family that the API uses. */
import type { ChainFamily, StreamSummary } from '@sluice/kit/contract';
import type * as z from 'zod';
import type { ChildOrigin } from '../match/ruleIndex.ts';
import type { ChainReport } from '../store/leases/contract.ts';
import type { StreamRecord } from '../store/streams/contract.ts';

/** Format of the addresses of a family. */
export interface AddressFormat {
  /** Size of an address in bytes. */
  readonly width: 20 | 32;
  readonly schema: z.ZodType;
  readonly labeledSchema: z.ZodType;
  /** Description for messages, e.g. `an EVM address: 0x and 40 hex digits`. */
  readonly should: string;
  /** Returns the address in lowercase with all leading zeros; undefined if it is invalid. */
  toAddress(text: string): string | undefined;
}

/** Facts about the chains of a stream and the settings, to find its problems. */
export interface ProblemNeeds {
  /** Returns whether blocks of this chain are read. */
  hasSource(chain: string): boolean;
  /** Returns why blocks of this chain are not read at the moment; undefined if they are. */
  whyDown(chain: string): string | undefined;
  /** Returns what no node of this chain has. */
  lacks(chain: string): ChainReport['lacks'];
  /** Returns why values on this chain can't be read for the stream; undefined if they can. */
  whyUnread(chain: string, streamId: string): string | undefined;
  /** Maximum time for an attempt of a webhook. */
  maxTimeoutSeconds: number;
  /** Maximum number of children of factories per stream. */
  maxChildren: number;
}

export interface ApiFamily<Stream extends StreamRecord = StreamRecord> {
  readonly name: Stream['family'];
  /** Flag that configures the nodes of a chain, for messages. */
  readonly flag: string;
  readonly addresses: AddressFormat;
  /** The webhook that a new URL must accept. */
  readonly testWebhook: object;
  /**
   * Whether queries refer to blocks by hash, so that removed blocks are found, too. Otherwise they
   * refer to blocks by height.
   */
  readonly findsByHash: boolean;
  /** Meaning of a number in a query. */
  readonly numbers: 'block' | 'version';
  /** Chains that history and logs list with another id, by their own id. */
  readonly listedIds: Readonly<Record<string, string>>;
  /** Returns the address in a query, unless it may be a hash; undefined for any other query. */
  readAddress(query: string): string | undefined;
  /** Returns the form of a hex value of a body in which it could be an address; in lowercase. */
  toBodyAddress(hex: string): string;
  /** Returns the timestamp of the block of a body, in Unix milliseconds. */
  readBlockTime(body: string): number;
  /** Returns what the stream watches and selects, other than addresses. */
  scopeOf(stream: Stream): Pick<StreamSummary, 'topic0' | 'amountOfFactories' | 'amountOfReads'>;
  /** Describes where a child comes from; undefined if the stream no longer has its factory. */
  describeOrigin?(stream: Stream, origin: ChildOrigin): string | undefined;
  /** Returns the signatures of the events that the stream declares, by hash. */
  signaturesOf(stream: Stream): ReadonlyMap<string, string>;
  /**
   * Returns the family's own problems that limit the matches of an active stream, with their fixes.
   */
  problemsOf(stream: Stream, needs: ProblemNeeds): string[];
}

export type ApiFamilies = Readonly<Record<ChainFamily, ApiFamily>>;
