import type { ActivityBreakdown } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { chainsQuery } from '../../../data/queries/chains.ts';
import {
  formatCount,
  formatDuration,
  formatHash,
  formatQuantity,
  formatShare,
} from '../../../ui/text/format.ts';
import { CopyButton } from '../../../ui/text/copyButton.tsx';

/** Number of rows that are initially shown. */
const SHOWN = 8;

/** Breaks down the numbers of the charts by response, chain and record type. */
export function Breakdown({ breakdown }: { breakdown: ActivityBreakdown }) {
  const { statuses, chains, records } = breakdown;
  const { data: watched = [] } = useQuery(chainsQuery);
  if (statuses.length + chains.length + records.length === 0) return null;
  const attempts = statuses.reduce((sum, each) => sum + each.attempts, 0);
  const matched = records.reduce((sum, each) => sum + each.matched, 0);
  return (
    <div className="mt-5 grid gap-x-8 gap-y-5 lg:grid-cols-3">
      <Part
        title="By response"
        heads={['Response', 'Attempts', 'Share']}
        rows={statuses.map(({ status, attempts: n }) => ({
          key: String(status),
          label: (
            <Link
              from="/streams/$streamId"
              to="/streams/$streamId"
              search={{ status: String(status ?? 'none') }}
              data-tip="Deliveries with this last response"
              className={clsx('block truncate underline-offset-2 hover:underline', toneOf(status))}
            >
              <span className="data">{status ?? 'no response'}</span>
            </Link>
          ),
          figures: [formatCount(n), shareOf(n, attempts)],
          share: n / attempts,
        }))}
      />
      <Part
        title="By chain"
        heads={['Chain', 'Delivered', 'Success', 'p95']}
        rows={chains.map(({ chainId, delivered, redelivered, failedAttempts, p95Ms }) => ({
          key: chainId,
          label: (
            <Link
              from="/streams/$streamId"
              to="/streams/$streamId"
              search={{ chain: chainId }}
              data-tip="Deliveries on this chain"
              className="block truncate underline-offset-2 hover:underline"
            >
              {watched.find(({ id }) => id === chainId)?.name ?? chainId}
            </Link>
          ),
          figures: [
            formatCount(delivered),
            formatShare(delivered + redelivered, failedAttempts),
            p95Ms === null ? '–' : formatDuration(p95Ms),
          ],
          share: attempts === 0 ? 0 : (delivered + redelivered + failedAttempts) / attempts,
        }))}
      />
      <Part
        title="By record type"
        heads={['Record type', 'Records', 'Share']}
        rows={records.map(({ what, signature, matched: n }) => ({
          key: what,
          label: <What what={what} signature={signature} />,
          figures: [formatCount(n), shareOf(n, matched)],
          share: n / matched,
        }))}
      />
    </div>
  );
}

const shareOf = (n: number, all: number): string => formatShare(n, all - n);

const toneOf = (status: number | null): string =>
  status === null ? 'text-reorg' : status < 300 ? '' : status < 500 ? 'text-warn' : 'text-bad';

const WORDS: Readonly<Record<string, string>> = {
  transaction: 'Transactions',
  internalTransaction: 'Internal transactions',
  anonymous: 'Logs without topics',
  other: 'Others, not counted separately',
};

/**
 * Shows a record type: a phrase, or the signature of an event. Without a signature, shows the hash
 * of the event, or its type on Aptos.
 */
function What({ what, signature }: { what: string; signature: string | null }) {
  if (WORDS[what] !== undefined) return WORDS[what];
  if (signature !== null) {
    const end = signature.indexOf('(');
    return (
      <span>
        <span className="font-medium">{signature.slice(0, end)}</span>
        <span className="text-faint">{signature.slice(end)}</span>
      </span>
    );
  }
  return (
    <span className="inline-flex items-center">
      <span className="data" data-tip={what}>
        {what.includes('::') ? what.split('::').slice(1).join('::') : formatHash(what, 6)}
      </span>
      <CopyButton text={what} label={`Copy ${what.includes('::') ? 'name' : 'topic0'}`} iconOnly />
    </span>
  );
}

interface Row {
  key: string;
  label: React.ReactNode;
  figures: readonly string[];
  /** The row's share of the total, from 0 to 1. */
  share: number;
}

function Part({
  title,
  heads,
  rows,
}: {
  title: string;
  heads: readonly string[];
  rows: readonly Row[];
}) {
  const older = rows.slice(SHOWN);
  return (
    <section aria-label={title} className="min-w-0">
      <Rows heads={heads} rows={rows.slice(0, SHOWN)} />
      {rows.length === 0 && <p className="mt-1 text-faint">None in this period</p>}
      {older.length > 0 && (
        <details>
          <summary className="flex min-h-7 cursor-pointer items-center text-12 text-muted">
            {formatQuantity(older.length, 'more', 'more')}
          </summary>
          <Rows heads={heads} rows={older} />
        </details>
      )}
    </section>
  );
}

function Rows({ heads, rows }: { heads: readonly string[]; rows: readonly Row[] }) {
  return (
    <table className="w-full table-auto border-collapse">
      <thead>
        <tr className="border-b border-line text-left">
          {heads.map((head, index) => (
            <th
              key={head}
              scope="col"
              className={clsx('caps py-1', index === 0 ? 'w-full' : 'pl-4 text-right')}
            >
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, label, figures, share }) => (
          <tr key={key} className="border-b border-line">
            <th scope="row" className="relative max-w-0 py-1 text-left font-normal">
              <span data-cut className="block truncate leading-6 pointer-coarse:leading-11">
                {label}
              </span>
              <span
                aria-hidden="true"
                className="absolute bottom-0 left-0 h-0.5 bg-line-strong"
                style={{ width: `${(share * 100).toFixed(1)}%` }}
              />
            </th>
            {figures.map((text, index) => (
              <td key={index} className="data pl-4 text-right whitespace-nowrap">
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
