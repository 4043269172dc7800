/** The shape of a chain family. All other code of the service asks a family for what it needs. */
import type { AddressHandlerNeeds } from '../api/calls/streams/addresses.ts';
import type { StreamCallNeeds } from '../api/calls/streams/streamCalls.ts';
import type { ApiFamily } from '../api/family.ts';
import type { Handlers } from '../api/handlers.ts';
import type { FamilyChains } from '../chains/familyChains.ts';
import type { ChainDependencies } from '../chains/followedChain.ts';
import type { FindChain, OpenNode } from '../chains/testNode.ts';
import type { Config } from '../config/config.ts';
import type { ReadChainAndPhase } from '../deliver/destinations/inbox/inbox.ts';
import type { StreamRecord } from '../store/streams/contract.ts';

/** @typeParam Opened what the family adds to an {@link OpenFamily} */
export interface Family<
  Stream extends StreamRecord,
  Opened extends OpenFamily,
> extends ApiFamily<Stream> {
  /** Base URLs of block explorers by chain id. */
  readonly explorers: Readonly<Record<string, string>>;
  /** Opens a node to test it before it is added. */
  openNode: OpenNode;
  findChain: FindChain;
  /** Returns the place of a webhook; undefined if it is a webhook of another family. */
  readChainAndPhase(webhook: object): ReturnType<ReadChainAndPhase> | undefined;
  /** Opens the family's part of the service. It follows no chains yet. */
  open(config: Config, dependencies: ChainDependencies): Opened;
}

/** A family in a running service. */
export interface OpenFamily {
  readonly chains: FamilyChains;
  /** Creates the handlers of the calls that only this family has. */
  createHandlers(needs: StreamCallNeeds & AddressHandlerNeeds): Partial<Handlers>;
}

export const defineFamily = <Stream extends StreamRecord, Opened extends OpenFamily>(
  family: Family<Stream, Opened>,
): Family<Stream, Opened> => family;
