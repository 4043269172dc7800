import type { AbiItem } from '@sluice/kit';
import { toAddress } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { aboutQuery } from '../../../data/queries/access.ts';
import { abiQuery, chainsQuery, contractQuery } from '../../../data/queries/chains.ts';
import { describeContract } from '../../../words/contractWords.ts';
import type { StreamDraft } from '../../../routes/streamForm/draft/draft.ts';

/** Returns the first chain of a draft that has an ABI source; undefined if none has. */
export function useAbiChain({ chains }: Pick<StreamDraft, 'chains'>): string | undefined {
  const { data: about } = useQuery(aboutQuery);
  return chains.find((id) => about?.abiChains.includes(id));
}

/**
 * Returns the ABI of the draft and, from an ABI source, that of a contract.
 * @param text an address; other text has no contract.
 */
export function useContractAbi(
  draft: Pick<StreamDraft, 'abi' | 'chains'>,
  text: string,
): readonly AbiItem[] {
  const chain = useAbiChain(draft);
  const address = toAddress(text.trim());
  const { data } = useQuery({
    ...abiQuery(chain ?? '', address ?? ''),
    enabled: chain !== undefined && address !== undefined,
  });
  return [...draft.abi, ...(data?.abi ?? [])];
}

/**
 * Describes the contract at an address on the first chain of a draft; undefined if it is unknown.
 * @param text an address; other text has no contract.
 */
export function useContractWords(
  { chains }: Pick<StreamDraft, 'chains'>,
  text: string,
): string | undefined {
  const { data: followed = [] } = useQuery(chainsQuery);
  const chain = followed.find(({ id }) => id === chains[0]);
  const address = toAddress(text.trim());
  const { data } = useQuery({
    ...contractQuery(chain?.id ?? '', address ?? ''),
    enabled: chain !== undefined && address !== undefined,
  });
  return data && chain && describeContract(data, chain.name);
}
