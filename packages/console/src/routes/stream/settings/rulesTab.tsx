import type { StreamSummary } from '@sluice/kit/sluice';
import { nameOfChain } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { chainsQuery } from '../../../data/queries/chains.ts';
import { client } from '../../../data/client.ts';
import { DryRunPanel } from '../../streamForm/dryRun/dryRunPanel.tsx';
import { MatchPart } from '../../streamForm/matchPart.tsx';
import { SharedDryRun } from '../../streamForm/dryRun/sharedDryRun.tsx';
import { AllAddresses, ChainChoice } from '../../streamForm/watchPart.tsx';
import { EditStream } from './editStream.tsx';
import './rulesTab.css';

/** Maximum number of addresses in a dry run, which is enough to try the rules. */
const TRIED_ADDRESSES = 100;

/** Edits the stream's rules next to a dry run of the edited rules. */
export function RulesTab({ stream }: { stream: StreamSummary }) {
  const { data: chains = [] } = useQuery(chainsQuery);
  const { data: addresses } = useQuery({
    queryKey: ['first addresses', stream.id],
    queryFn: async ({ signal }) => {
      const query = { limit: TRIED_ADDRESSES, networkType: stream.family };
      const { result } = await client.streams.listAddresses(stream.id, query, { signal });
      return result.map(({ address }) => address);
    },
  });
  return (
    <EditStream stream={stream} addresses={addresses ?? null}>
      {(part) => {
        const [first] = part.draft.chains;
        const chain = chains.find(({ id }) => nameOfChain(id) === first);
        return (
          <SharedDryRun draft={part.draft} chain={chain} addresses={addresses ?? null}>
            <div className="flex max-md:flex-col">
              <div className="grid min-w-0 content-start gap-4 p-4 md:w-1/2 md:max-w-160 md:border-r md:border-line">
                <AllAddresses {...part} />
                <ChainChoice {...part} chains={chains} />
                <MatchPart {...part} />
              </div>
              <div className="rules-dry-run flex min-h-96 min-w-0 flex-1 flex-col">
                <DryRunPanel
                  draft={part.draft}
                  chain={chain}
                  watched={{ count: stream.amountOfAddresses }}
                />
              </div>
            </div>
          </SharedDryRun>
        );
      }}
    </EditStream>
  );
}
