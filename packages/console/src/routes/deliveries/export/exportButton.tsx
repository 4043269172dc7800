import { Download } from 'lucide-react';
import { useState } from 'react';
import type { ListFilter } from '../../../data/live/liveCache.ts';
import { Button } from '../../../ui/button.tsx';
import { ActionWord } from '../filters/actionWord.tsx';
import { Dialog, DialogFooter } from '../../../ui/dialog.tsx';
import type { Tasks } from '../../../ui/task.tsx';
import { download } from '../../../ui/text/download.ts';
import { formatCount } from '../../../ui/text/format.ts';
import { exportTask, MAX_EXPORTED } from './exportDeliveries.ts';
import { EXPORT_TYPES, type ExportFormat } from './exportFormat.ts';

const FORMATS: readonly { format: ExportFormat; label: string }[] = [
  { format: 'csv', label: 'Export CSV' },
  { format: 'ndjson', label: 'Export NDJSON' },
];

/** Exports the deliveries that match the filter, in a format chosen in a dialog. */
export function ExportButton({ filter, tasks }: { filter: ListFilter; tasks: Tasks }) {
  const [isOpen, setOpen] = useState(false);
  const start = (format: ExportFormat): void => {
    setOpen(false);
    tasks.start(
      exportTask(filter, format, (file) =>
        download(`deliveries.${format}`, file, EXPORT_TYPES[format]),
      ),
    );
  };
  return (
    <>
      <Button
        variant="quiet"
        disabled={tasks.shown?.state === 'running'}
        data-tip="Export all matching deliveries"
        onClick={() => setOpen(true)}
      >
        <Download size={14} strokeWidth={1.5} aria-hidden="true" />
        <ActionWord>Export…</ActionWord>
      </Button>
      {isOpen && (
        <Dialog title="Export deliveries" onClose={() => setOpen(false)}>
          <p className="mb-3 text-muted">
            The file contains all deliveries that match the filter, newest first, up to{' '}
            {formatCount(MAX_EXPORTED)}. Webhook bodies are not included.
          </p>
          <DialogFooter>
            {FORMATS.map(({ format, label }) => (
              <Button key={format} onClick={() => start(format)}>
                {label}
              </Button>
            ))}
          </DialogFooter>
        </Dialog>
      )}
    </>
  );
}
