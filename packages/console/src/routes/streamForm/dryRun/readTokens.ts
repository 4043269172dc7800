import { useQueries, useQuery } from '@tanstack/react-query';
import { chainsQuery, contractQuery } from '../../../data/queries/chains.ts';
import type { StreamDraft } from '../draft/draft.ts';
import { contractsToRead, type KnownTokens } from '../draft/knownTokens.ts';
import { unitOf, type Token } from '../draft/tokenAmount.ts';

/**
 * Reads the tokens whose amounts the conditions of a draft may compare, from the draft's first
 * chain.
 * @param addresses addresses of the stream. No tokens are read while they are null.
 */
export function useKnownTokens(
  draft: StreamDraft,
  addresses: readonly string[] | null,
): KnownTokens {
  const { data: chains = [] } = useQuery(chainsQuery);
  const chain = chains.find(({ id }) => id === draft.chains[0]);
  const watched = draft.allAddresses || addresses === null ? [] : addresses;
  const contracts =
    chain === undefined || addresses === null ? [] : contractsToRead(draft, watched);
  const results = useQueries({
    queries: contracts.map((address) => contractQuery(chain?.id ?? '', address)),
  });
  const tokens = results.flatMap(({ data }, index): Token[] => {
    const unit = unitOf(data);
    return unit === null ? [] : [{ ...unit, address: contracts[index] ?? '' }];
  });
  const [first, ...others] = watched.map((address) => address.toLowerCase());
  const only = tokens.find(({ address }) => address === first && others.length === 0);
  return only === undefined ? { tokens, only: null } : { tokens: [only], only };
}
