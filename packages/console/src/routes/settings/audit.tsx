import { hashAuditRecord, type AuditRecord } from '@sluice/kit/sluice';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { auditQuery, keysQuery } from '../../data/queries/access.ts';
import { findBreak, wordsOf } from './auditLog.ts';
import { formatCount, formatHash, formatQuantity } from '../../ui/text/format.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Status } from '../../ui/status.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { DateTime } from '../../ui/text/time.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';

/**
 * Lists audit records, newest first, and shows whether one of them was changed or a record between
 * them was deleted.
 */
export function AuditPage() {
  useNamePage('Audit log');
  const log = useInfiniteQuery(auditQuery);
  const { data: keys } = useQuery(keysQuery);
  const records = useMemo(() => log.data?.pages.flatMap(({ result }) => result), [log.data]);
  const names = new Map(keys?.map(({ id, name }) => [id, name]));
  return (
    <>
      <Breadcrumb to="/settings" title="Settings" here="Audit log" />
      {log.isError && (
        <ErrorPanel
          what="Couldn't load the audit log"
          error={log.error}
          onRetry={() => void log.refetch()}
          stale={records !== undefined}
        />
      )}
      {log.isPending && <Loading className="p-4" />}
      {records?.length === 0 && (
        <p className="p-4 text-muted">
          No records yet. Sign-ins, access to secrets, key changes, replays and deletions appear
          here.
        </p>
      )}
      {records !== undefined && records.length > 0 && (
        <>
          <Chain records={records} />
          <table className="w-full border-collapse">
            <caption className="sr-only">Audit log</caption>
            <thead>
              <tr className="border-b border-line text-left">
                <th scope="col" className="caps py-2 pr-3 pl-4 text-right max-sm:hidden">
                  No.
                </th>
                <th scope="col" className="caps px-3 max-sm:pl-4">
                  Time
                </th>
                <th scope="col" className="caps px-3">
                  Action
                </th>
                <th scope="col" className="caps px-3">
                  Key
                </th>
                <th scope="col" className="caps px-3 max-md:hidden">
                  IP address
                </th>
                <th scope="col" className="caps py-2 pr-4 pl-3 max-md:hidden">
                  Target
                </th>
              </tr>
            </thead>
            <tbody>
              {records.map((record) => (
                <Row key={record.seq} record={record} name={names.get(record.keyId)} />
              ))}
            </tbody>
          </table>
          {log.hasNextPage && (
            <div className="p-4">
              <Button disabled={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
                Load older records
              </Button>
            </div>
          )}
        </>
      )}
    </>
  );
}

/** Shows whether the hash chain of the loaded records is intact, as checked in the browser. */
function Chain({ records }: { records: readonly AuditRecord[] }) {
  const broken = useMemo(() => findBreak(records, hashAuditRecord), [records]);
  const newest = records[0];
  return (
    <p className="flex flex-wrap items-center gap-x-4 border-b border-line px-4 py-2">
      {broken === undefined ? (
        <Status condition={{ shape: 'disc', word: 'intact', tone: 'ok' }} />
      ) : (
        <Status condition={{ shape: 'triangle', word: 'changed', tone: 'bad' }} />
      )}
      <span className="text-muted">
        {broken === undefined
          ? `${formatQuantity(records.length, 'record')}. Each hash was checked in this browser.`
          : `Record ${formatCount(broken)} does not match its hash or the next record.`}
      </span>
      {newest !== undefined && (
        <span className="flex items-center gap-1 text-12 text-faint">
          latest <span className="data">{formatHash(newest.hash)}</span>
          <CopyButton text={newest.hash} label="Copy latest hash" iconOnly />
        </span>
      )}
    </p>
  );
}

function Row({ record, name }: { record: AuditRecord; name: string | undefined }) {
  const { seq, at, action, keyId, sessionName, address, target } = record;
  return (
    <tr className="h-row border-b border-line">
      <td className="data pr-3 pl-4 text-right text-faint max-sm:hidden">{formatCount(seq)}</td>
      <td className="data px-3 whitespace-nowrap max-sm:pl-4 max-sm:text-wrap">
        <DateTime timeMs={at} />
      </td>
      <td className="px-3">{wordsOf(action)}</td>
      <td className="px-3">
        <span className="inline-block max-w-40 truncate align-bottom" data-tip={keyId}>
          {keyId === '' ? 'none' : keyId === 'bootstrap' ? '--api-key' : (name ?? keyId)}
        </span>
        {sessionName !== '' && (
          <bdi className="ml-2 inline-block max-w-40 truncate align-bottom text-muted">
            {sessionName}
          </bdi>
        )}
      </td>
      <td className="data px-3 text-muted max-md:hidden">{address}</td>
      <td className="data pr-4 pl-3 break-all text-muted max-md:hidden">{target}</td>
    </tr>
  );
}
