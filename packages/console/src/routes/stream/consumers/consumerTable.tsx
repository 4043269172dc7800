import type { FeedConsumer } from '@sluice/kit/sluice';
import { RotateCcw, Trash2 } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { formatCount } from '../../../ui/text/format.ts';
import { Ago } from '../../../ui/text/time.tsx';
import { Term } from '../../../ui/tips/term.tsx';
import { progressWords } from './consumerWords.ts';

/** Columns that narrow screens show below the name instead. */
const WIDE = 'px-3 text-right whitespace-nowrap max-md:hidden';

/** Lists consumers with their progress. */
export function ConsumerTable({
  consumers,
  onReset,
  onDelete,
}: {
  consumers: readonly FeedConsumer[];
  onReset: (name: string) => void;
  onDelete: (name: string) => void;
}) {
  const now = useNow();
  return (
    <table className="w-full table-auto border-collapse">
      <caption className="sr-only">Consumers</caption>
      <thead>
        <tr className="h-8 border-b border-line text-left">
          <th scope="col" className="caps w-full pr-3 pl-4">
            Consumer
          </th>
          <th scope="col" className="caps px-3 text-right">
            Unread
          </th>
          <th scope="col" className={`caps ${WIDE}`}>
            Oldest unread
          </th>
          <th scope="col" className={`caps ${WIDE}`}>
            <Term tip="Deliveries that were read and are not acknowledged yet">Leased</Term>
          </th>
          <th scope="col" className={`caps ${WIDE}`}>
            <Term tip="Deliveries that expired before the consumer acknowledged them">Missed</Term>
          </th>
          <th scope="col" className={`caps ${WIDE}`}>
            <Term tip="The last position before the first unacknowledged delivery">Position</Term>
          </th>
          <th scope="col" className={`caps ${WIDE}`}>
            Last active
          </th>
          <th scope="col">
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {consumers.map((consumer) => {
          const { name, unread, leased, missed, position, oldestAt, activeAt } = consumer;
          return (
            <tr key={name} className="h-row border-b border-line hover:bg-raised">
              <th scope="row" className="py-1 pr-3 pl-4 text-left font-normal">
                <span className="data block font-medium wrap-anywhere">{name}</span>
                <span className="block text-12 text-muted md:hidden">
                  {missed > 0 && <span className="text-warn">{formatCount(missed)} missed · </span>}
                  {progressWords(consumer, now)}
                </span>
              </th>
              <td className="data px-3 text-right">{formatCount(unread)}</td>
              <td className={`data ${WIDE}`}>
                {oldestAt === null ? '–' : <Ago timeMs={oldestAt} />}
              </td>
              <td className={`data ${WIDE}`}>{formatCount(leased)}</td>
              <td className={`data ${WIDE} ${missed > 0 ? 'text-warn' : 'text-faint'}`}>
                {formatCount(missed)}
              </td>
              <td className={`data ${WIDE}`}>{formatCount(position)}</td>
              <td className={`data text-muted ${WIDE}`}>
                <Ago timeMs={activeAt} />
              </td>
              <td className="py-1 pr-3 text-right whitespace-nowrap">
                <Button
                  variant="quiet"
                  square
                  aria-label={`Reset ${name}`}
                  data-tip="Reset"
                  onClick={() => onReset(name)}
                >
                  <RotateCcw size={14} strokeWidth={1.5} aria-hidden="true" />
                </Button>
                <Button
                  variant="quiet"
                  square
                  aria-label={`Delete ${name}`}
                  data-tip="Delete"
                  onClick={() => onDelete(name)}
                >
                  <Trash2 size={14} strokeWidth={1.5} aria-hidden="true" />
                </Button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
