import { type AddressList, toRejectedList } from '@sluice/kit/operator';
import { Button } from '../../ui/button.tsx';
import { download } from '../../ui/text/download.ts';
import { formatQuantity } from '../../ui/text/format.ts';
import { DoubtfulAddresses } from './doubtfulAddresses.tsx';

/** Maximum number of rejected lines that are shown; the download contains all of them. */
const SHOWN_REJECTS = 20;

/** Shows how many addresses a list has, and its rejected lines. */
export function AddressVerdict({ list }: { list: AddressList }) {
  const { rows, rejects, doubts, duplicates } = list;
  return (
    <div>
      <p>
        <span className="font-medium">{formatQuantity(rows.length, 'address', 'addresses')}</span>
        {duplicates > 0 && (
          <span className="text-muted"> · {formatQuantity(duplicates, 'duplicate')} skipped</span>
        )}
        {rejects.length > 0 && (
          <span className="text-bad"> · {formatQuantity(rejects.length, 'line')} rejected</span>
        )}
      </p>
      <DoubtfulAddresses doubts={doubts} />
      {rejects.length > 0 && (
        <>
          <ul className="mt-1 max-h-40 overflow-y-auto border-t border-line">
            {rejects.slice(0, SHOWN_REJECTS).map(({ line, text, reason }) => (
              <li key={line} className="flex gap-3 border-b border-line py-0.5">
                <span className="data w-14 shrink-0 text-right text-faint">{line}</span>
                <span className="data min-w-0 flex-1 truncate">{text}</span>
                <span className="shrink-0 text-12 text-muted max-sm:max-w-1/2">{reason}</span>
              </li>
            ))}
          </ul>
          <Button
            variant="quiet"
            className="mt-1"
            onClick={() => download('rejected.csv', toRejectedList(list), 'text/csv')}
          >
            Download {formatQuantity(rejects.length, 'rejected line')}
          </Button>
        </>
      )}
    </div>
  );
}
