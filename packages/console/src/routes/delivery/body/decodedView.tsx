import type { DeliveryDetail } from '@sluice/kit/sluice';
import { familyOf } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import { memo, useState } from 'react';
import { whyMatchedQuery } from '../../../data/queries/whyMatched.ts';
import { useAnswer, type Body } from '../../../body/body.ts';
import type { DecodedRecord } from '../../../body/decodedRecord.ts';
import { CHAIN_PAGES } from '../../../families/chains.ts';
import { formatCount, formatHash } from '../../../ui/text/format.ts';
import { formatMessage } from '../../../words/messages.ts';
import type { WhyMatched } from '../../../body/whyMatched.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { Hash } from '../../../ui/text/hash.tsx';
import { ExplorerLink } from '../../chains/explorerLink.tsx';
import { MatchedList } from './matchedList.tsx';

/** Number of records on the first page. Each of the other pages has twice this number. */
const PAGE_RECORDS = 50;

/** A public directory of event signatures. The console links to it but never contacts it. */
const SIGNATURES_URL = 'https://www.4byte.directory/event-signatures/?bytes_signature=';

const HASHES_CHECKED = /^0x[0-9a-fA-F]{40,}$/;

/** Shows the decoded records of the body with names, values and amounts. */
export function DecodedView({
  body,
  delivery,
}: {
  body: Body | null;
  /** Delivery that provides labels and reasons; undefined for the sample of a dry run. */
  delivery?: DeliveryDetail;
}) {
  return body === null ? <NoWebhook /> : <Records body={body} delivery={delivery} />;
}

const NoWebhook = () => (
  <p className="p-4 text-muted">The body is not a webhook. See the Payload tab.</p>
);

function Records({ body, delivery }: { body: Body; delivery: DeliveryDetail | undefined }) {
  const [pages, setPages] = useState(1);
  const total = useAnswer(body, 'recordCount');
  const { data: matched, isPending } = useQuery({
    ...whyMatchedQuery(delivery ?? NOBODY),
    enabled: delivery !== undefined,
  });
  if (total === undefined) return null;
  if (total === null) return <NoWebhook />;
  if (total === 0) {
    return <p className="p-4 text-muted">The webhook has no records.</p>;
  }
  const left = total - firstOf(pages);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <MatchedList body={body} delivery={delivery} />
      <ol>
        {Array.from({ length: pages }, (_, page) => (
          <RecordPage
            key={page}
            body={body}
            first={firstOf(page)}
            end={firstOf(page + 1)}
            delivery={delivery}
            matched={isPending ? undefined : (matched ?? null)}
          />
        ))}
      </ol>
      {left > 0 && (
        <div className="px-4 py-2">
          <Button onClick={() => setPages(pages + 1)}>Show more ({formatCount(left)} left)</Button>
        </div>
      )}
    </div>
  );
}

/** Argument of the query for reasons, which is disabled if there is no delivery. */
const NOBODY = { id: '', createdAt: 0 };

/**
 * Returns the index of a page's first record. Most users read only the first page, so it is
 * shorter.
 */
const firstOf = (page: number): number => Math.max(0, PAGE_RECORDS * (2 * page - 1));

/**
 * Renders one page of records. Memoized, so that a new page does not render the earlier pages
 * again.
 */
const RecordPage = memo(function RecordPage({
  body,
  first,
  end,
  ...context
}: {
  body: Body;
  first: number;
  end: number;
} & Context) {
  const records = useAnswer(body, 'records', first, end) ?? [];
  return records.map((record, index) => <Record key={index} record={record} {...context} />);
});

/** Props that all records of a body share. */
interface Context {
  delivery: DeliveryDetail | undefined;
  /** Reasons why each record matched: undefined while loading, null if unknown. */
  matched: WhyMatched | null | undefined;
}

function Record({ record, delivery, matched }: { record: DecodedRecord } & Context) {
  const { title, about, fields, place, txHash, unknown } = record;
  const topic0 = fields.find(({ name }) => name === 'topic0')?.value;
  return (
    <li className="border-b border-line px-4 py-2">
      <h3 className="flex flex-wrap items-baseline gap-x-3">
        <span className={unknown ? 'font-medium text-muted' : 'font-medium'}>{title}</span>
        <span className="min-w-0 truncate text-muted">{about}</span>
        <span className="data ml-auto text-faint">{place}</span>
      </h3>
      <dl className="mt-1 grid grid-cols-[minmax(64px,auto)_minmax(0,1fr)] gap-x-4">
        {[...fields, { name: 'tx', value: txHash, note: '' }]
          .filter(({ value }) => value !== '')
          .map(({ name, value, note }) => (
            <div key={name} className="col-span-2 grid grid-cols-subgrid items-center">
              <dt className="data text-faint">{name}</dt>
              <dd className="data flex min-h-6 min-w-0 items-center gap-3">
                {HASHES_CHECKED.test(value) ? (
                  <>
                    <Label of={value} labels={delivery?.labels} />
                    <Hash value={value} name={name} />
                    {delivery !== undefined && (
                      <FieldLink chainId={delivery.chainId} name={name} value={value} />
                    )}
                  </>
                ) : (
                  <span className={note === '' ? 'truncate' : 'truncate text-faint'} data-cut>
                    {value}
                  </span>
                )}
                {note !== '' && (
                  <span className="order-first truncate font-medium" data-cut>
                    {note}
                  </span>
                )}
              </dd>
            </div>
          ))}
        {delivery !== undefined && txHash !== '' && (
          <MatchReason record={record} labels={delivery.labels} matched={matched} />
        )}
      </dl>
      {unknown && topic0 !== undefined && (
        <p className="mt-1 flex flex-wrap gap-x-2">
          {delivery !== undefined && (
            <Link
              to="/streams/$streamId"
              params={{ streamId: delivery.streamId }}
              search={{ tab: 'rules' }}
              className={buttonClass('plain')}
            >
              Add ABI
            </Link>
          )}
          <a
            href={`${SIGNATURES_URL}${topic0}`}
            target="_blank"
            rel="noreferrer"
            className={buttonClass('quiet')}
          >
            Look up the signature
            <ExternalLink size={12} strokeWidth={1.5} aria-hidden="true" />
          </a>
        </p>
      )}
    </li>
  );
}

/** Links a field to the block explorer, if its value is an address or the transaction. */
function FieldLink({ chainId, name, value }: { chainId: string; name: string; value: string }) {
  if (name === 'tx') return <ExplorerLink chainId={chainId} page="transaction" value={value} />;
  return (
    CHAIN_PAGES[familyOf(chainId)].mayBeAddress(value) && (
      <ExplorerLink chainId={chainId} page="address" value={value} />
    )
  );
}

/** Shows the stream's label for a watched address, next to the address. */
function Label({ of: address, labels }: { of: string; labels: Labels | undefined }) {
  const label = labels?.[address.toLowerCase()];
  return label === undefined ? null : (
    <span className="min-w-0 truncate font-medium" data-tip={`Watched as ${label}`}>
      {label}
    </span>
  );
}

type Labels = DeliveryDetail['labels'];

/** Shows why the record matched. The line reserves its space before the reasons load. */
function MatchReason({
  record,
  labels,
  matched,
}: {
  record: DecodedRecord;
  labels: Labels;
  matched: Context['matched'];
}) {
  const why = matched?.of(record);
  return (
    <div className="col-span-2 grid grid-cols-subgrid items-baseline">
      <dt className="data text-faint">reason</dt>
      <dd className="flex min-h-6 min-w-0 flex-wrap items-baseline gap-x-3">
        {why?.reasons.map((reason) => (
          <span key={reason} data-tip={reason} className="min-w-0 break-words">
            <span className={why.included ? 'text-ok' : 'text-warn'}>
              {why.included ? '✓' : '✗'}
            </span>{' '}
            {shorten(reason, labels)}
          </span>
        ))}
        {why === undefined && matched !== undefined && (
          <span className="text-faint">
            {matched === null
              ? 'unknown: the block or the stream is no longer available'
              : 'unknown'}
          </span>
        )}
        {why !== undefined && matched?.usesNewRules && (
          <span className="text-faint">by the current rules</span>
        )}
      </dd>
    </div>
  );
}

/** Replaces addresses with their labels, shortens other addresses and hashes, and groups digits. */
const shorten = (reason: string, labels: Labels): string =>
  formatMessage(reason).replaceAll(
    /0x[0-9a-f]{40,64}/gi,
    (hex) => labels[hex.toLowerCase()] ?? formatHash(hex, 6),
  );
