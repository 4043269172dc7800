import type { Explanation } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { chainsQuery } from '../../data/queries/chains.ts';
import { buttonClass } from '../../ui/button.tsx';
import { formatCount } from '../../ui/text/format.ts';
import { Hash } from '../../ui/text/hash.tsx';
import { DateTime } from '../../ui/text/time.tsx';
import { formatMessage } from '../../words/messages.ts';
import { toNodeFlag } from '@sluice/kit/contract';
import { recognize } from '../../words/paste.ts';
import { ExplorerLink } from '../chains/explorerLink.tsx';
import { Reasons } from './reasons.tsx';
import { Transaction } from './transaction.tsx';
import { Verdict } from './verdict.tsx';

/** Shows what was found, then the verdict of each stream. */
export function Answer({ explanation }: { explanation: Explanation }) {
  const { kind, query, chainId, block, transactionHash, transaction } = explanation;
  const { message, stages, streams } = explanation;
  const { data: chains = [] } = useQuery(chainsQuery);
  const chain = chains.find(({ id }) => id === chainId);
  const asked = recognize(query)?.kind;
  return (
    <>
      <section aria-label="Result" className="border-b border-line px-4 py-3">
        {transaction !== null && chainId !== null && (
          <Transaction transaction={transaction} chainId={chainId} />
        )}
        <div className="flex flex-wrap items-center gap-x-4 text-muted">
          {chainId !== null && (
            <span>
              {chain?.name} <span className="data text-faint">{chainId}</span>
            </span>
          )}
          {block !== null && (
            <>
              <span className="data">block {formatCount(block.number)}</span>
              <Hash value={block.hash} name="block hash" />
              {chainId !== null && (
                <ExplorerLink chainId={chainId} page="block" value={String(block.number)} />
              )}
              {block.timestamp !== null && (
                <span className="data text-faint">
                  <DateTime timeMs={block.timestamp * 1000} />
                </span>
              )}
            </>
          )}
          {transaction === null && transactionHash !== null && (
            <span className="inline-flex items-center gap-2">
              transaction <Hash value={transactionHash} name="transaction hash" />
              {chainId !== null && (
                <ExplorerLink chainId={chainId} page="transaction" value={transactionHash} />
              )}
            </span>
          )}
        </div>
        <p className="mt-1">{formatMessage(message, chains)}</p>
        <Reasons reasons={stages} />
        {transactionHash !== null && <DeliveriesLink of={transactionHash} among={streams} />}
        {kind === 'unknown' && asked === 'block' && chainId === null && (
          <WhichChain query={query} />
        )}
        {(kind === 'unknown' ? asked === 'hash' : chainId !== null && chain === undefined) && (
          <HowToAdd />
        )}
      </section>
      <h2 className="sr-only">Streams</h2>
      <ul aria-label="Streams">
        {streams.map((verdict) => (
          <Verdict
            key={verdict.streamId}
            verdict={verdict}
            chainId={chainId}
            block={block}
            blockStages={stages}
            transaction={transaction}
          />
        ))}
      </ul>
      {streams.length === 0 && stages.length > 0 && (
        <p className="px-4 py-3 text-muted">
          {kind === 'delivery' ? 'The stream was deleted.' : 'No stream watches this chain.'}
        </p>
      )}
    </>
  );
}

/** Links to the list of the transaction's deliveries, if there are any. */
function DeliveriesLink({ of: q, among }: { of: string; among: Explanation['streams'] }) {
  const count = among.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
  if (count === 0) return null;
  return (
    <Link
      to="/deliveries"
      search={{ q }}
      className="mt-2 inline-flex min-h-7 items-center text-accent hover:underline"
    >
      {count === 1 ? 'Show the delivery' : `Show the ${formatCount(count)} deliveries`}
    </Link>
  );
}

/** Links to the same query on each chain, because every chain may have a block with this number. */
function WhichChain({ query }: { query: string }) {
  const { data: chains = [] } = useQuery(chainsQuery);
  return (
    <ul aria-label="Possible chains" className="mt-2 flex flex-wrap gap-2">
      {chains.map(({ id, name }) => (
        <li key={id}>
          <Link
            to="/explain"
            search={{ q: query, chain: id }}
            activeProps={{}}
            className={buttonClass('plain')}
          >
            {name}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Explains how to add a chain, because the service searches only the chains that it reads. */
function HowToAdd() {
  return (
    <p className="mt-2 text-muted">
      The service searches only the chains that it reads. To add a chain, select Add node… on the
      Chains page, or restart the service with a node of that chain:{' '}
      <code className="data">sluice serve {toNodeFlag('0x1', 'https://…')}</code>
    </p>
  );
}
