import type { ExplainedTransaction } from '@sluice/kit/sluice';
import type { ReactNode } from 'react';
import { Status, type Condition } from '../../ui/status.tsx';
import { formatAmount } from '../../ui/text/formatAmount.ts';
import { Hash } from '../../ui/text/hash.tsx';
import { ExplorerLink } from '../chains/explorerLink.tsx';

const STATUS_CONDITIONS: Record<NonNullable<ExplainedTransaction['status']>, Condition> = {
  succeeded: { shape: 'disc', word: 'succeeded', tone: 'ok' },
  failed: { shape: 'triangle', word: 'failed', tone: 'bad' },
};

/** Shows the transaction that is explained: what it called, and who paid whom. */
export function Transaction({
  transaction: { hash, status, from, to, createdContract, value, currency, selector, ...called },
  chainId,
}: {
  transaction: ExplainedTransaction;
  chainId: string;
}) {
  const amount = value === null ? null : formatAmount(value, currency.decimals);
  const address = (each: string | null, name: string): ReactNode =>
    each !== null && (
      <>
        <Hash value={each} name={name} />
        <ExplorerLink chainId={chainId} page="address" value={each} />
      </>
    );
  return (
    <>
      <h2 className="flex flex-wrap items-center gap-x-3 font-medium">
        Transaction
        <span className="inline-flex items-center gap-1">
          <Hash value={hash} name="transaction hash" />
          <ExplorerLink chainId={chainId} page="transaction" value={hash} />
        </span>
        {status !== null && <Status condition={STATUS_CONDITIONS[status]} />}
      </h2>
      <dl className="mt-1 mb-2 flex flex-wrap gap-x-6 gap-y-1">
        <Fact name="From">{address(from, 'sender')}</Fact>
        <Fact name="To">{address(to, 'recipient')}</Fact>
        <Fact name="New contract">{address(createdContract, 'contract')}</Fact>
        <Fact name="Value">
          {amount !== null && (
            <span className="data">
              {amount} {currency.symbol || 'native'}
            </span>
          )}
        </Fact>
        <Fact name={selector === null ? 'Function' : 'Method'}>
          {(called.function ?? selector) !== null && (
            <span className="data min-w-0 break-all">
              {called.function} <span className="text-faint">{selector}</span>
            </span>
          )}
        </Fact>
      </dl>
    </>
  );
}

/** Shows a name and its value, or nothing if there is no value. */
function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === false || children === null) return null;
  return (
    <div className="flex min-h-7 min-w-0 items-center gap-2">
      <dt className="text-12 text-faint">{name}</dt>
      <dd className="inline-flex min-w-0 items-center gap-1">{children}</dd>
    </div>
  );
}
