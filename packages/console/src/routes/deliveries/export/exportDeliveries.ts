/** Exports the deliveries of a list, page by page. */
import { PAGE_LIMIT } from '@sluice/kit/contract';
import type { ListFilter } from '../../../data/live/liveCache.ts';
import { toListing } from '../../../data/queries/deliveries.ts';
import { sluice } from '../../../data/queries/service.ts';
import type { Task } from '../../../ui/task.tsx';
import { formatCount, formatQuantity } from '../../../ui/text/format.ts';
import { EXPORT_TYPES, toHeader, toText, type ExportFormat } from './exportFormat.ts';

export const MAX_EXPORTED = 1_000_000;

export function exportTask(
  filter: ListFilter,
  format: ExportFormat,
  onFile: (file: Blob) => void,
): Task {
  const listing = toListing(filter);
  return {
    doing: 'Exporting deliveries',
    async work({ signal, onProgress }) {
      // Creates a blob per page, because browsers can move blobs from memory to disk.
      const parts = [new Blob([toHeader(format)])];
      let count = 0;
      let cursor: string | undefined;
      do {
        const query = { ...listing, limit: PAGE_LIMIT, cursor };
        const page = await sluice.listDeliveries(query, { signal });
        parts.push(new Blob([toText(format, page.result)]));
        count += page.result.length;
        onProgress(count);
        ({ cursor } = page);
      } while (cursor !== undefined && count < MAX_EXPORTED);
      onFile(new Blob(parts, { type: EXPORT_TYPES[format] }));
    },
    did: (count) =>
      count >= MAX_EXPORTED
        ? `Exported the newest ${formatCount(count)} deliveries. To export older ones, filter by time.`
        : `${formatQuantity(count, 'delivery', 'deliveries')} exported.`,
  };
}
