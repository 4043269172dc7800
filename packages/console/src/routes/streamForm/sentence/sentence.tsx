import { nameOfChain } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { chainsQuery } from '../../../data/queries/chains.ts';
import type { StreamDraft } from '../draft/draft.ts';
import { useSharedDryRun } from '../dryRun/sharedDryRun.tsx';
import { describeStream, type Watched } from './describeStream.ts';

/** Shows what the stream of a form sends, in a sentence. */
export function Sentence({ draft, watched }: { draft: StreamDraft; watched: Watched }) {
  const { known } = useSharedDryRun();
  const { data: chains = [] } = useQuery(chainsQuery);
  const names = draft.chains.map(
    (name) => chains.find(({ id }) => nameOfChain(id) === name)?.name ?? name,
  );
  return <>{describeStream(draft, known, watched, names)}</>;
}
