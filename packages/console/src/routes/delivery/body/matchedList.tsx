import { NEW_STREAM_FAMILY } from '@sluice/kit/contract';
import type { DeliveryDetail } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAnswer, type Body } from '../../../body/body.ts';
import { streamQuery, streamsQuery } from '../../../data/queries/streams.ts';
import { nameMatchedRule } from '../../../families/draft.ts';
import { Button } from '../../../ui/button.tsx';
import { formatCount } from '../../../ui/text/format.ts';
import { Hash } from '../../../ui/text/hash.tsx';
import { ExplorerLink } from '../../chains/explorerLink.tsx';

/** Number of addresses that are shown at first. */
const FIRST = 20;

/** Lists the watched addresses that matched, if the stream includes them in its webhooks. */
export function MatchedList({
  body,
  delivery,
}: {
  body: Body;
  delivery: DeliveryDetail | undefined;
}) {
  const matched = useAnswer(body, 'matched') ?? [];
  const stream = useRules(matched.length > 0 ? delivery : undefined);
  const [isWhole, setWhole] = useState(false);
  if (matched.length === 0) return null;
  const shown = isWhole ? matched : matched.slice(0, FIRST);
  return (
    <section aria-label="Matched addresses" className="border-b border-line px-4 py-2">
      <h3 className="caps">Matched addresses</h3>
      <ul className="mt-1 grid gap-1">
        {shown.map(({ address, label, factory, rules }, index) => (
          <li key={index} className="flex min-h-6 flex-wrap items-center gap-x-3">
            {label !== null && <span className="max-w-full truncate font-medium">{label}</span>}
            {address === null ? (
              <span className="text-muted">any address</span>
            ) : (
              <span className="data flex min-w-0 items-center gap-3">
                <Hash value={address} name="matched address" />
                {delivery !== undefined && (
                  <ExplorerLink chainId={delivery.chainId} page="address" value={address} />
                )}
              </span>
            )}
            {factory !== null && (
              <span className="text-muted">child of factory {formatCount(factory + 1)}</span>
            )}
            <span className="min-w-0 wrap-anywhere text-muted">
              by {rules.map((rule) => nameMatchedRule(rule, stream)).join(', ')}
            </span>
          </li>
        ))}
      </ul>
      {shown.length < matched.length && (
        <Button className="mt-1" onClick={() => setWhole(true)}>
          Show {formatCount(matched.length - shown.length)} more
        </Button>
      )}
    </section>
  );
}

/** Reads the stream of a delivery; undefined if its rules have changed since, or it was deleted. */
function useRules(delivery: DeliveryDetail | undefined) {
  const { data: streams } = useQuery({ ...streamsQuery, enabled: delivery !== undefined });
  const known = streams?.find(({ id }) => id === delivery?.streamId);
  const { data: stream } = useQuery({
    ...streamQuery(known ?? { id: '', family: NEW_STREAM_FAMILY }),
    enabled: known !== undefined,
  });
  return stream !== undefined &&
    'updatedAt' in stream &&
    Date.parse(stream.updatedAt) <= (delivery?.createdAt ?? 0)
    ? stream
    : undefined;
}
