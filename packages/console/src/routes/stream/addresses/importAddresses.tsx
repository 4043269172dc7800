import type { StreamSummary } from '@sluice/kit/sluice';
import { FORM_WORDS } from '../../../families/formWords.ts';
import { Download } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { sluice } from '../../../data/queries/service.ts';
import { readPresent, type ImportedAddresses } from './addressChange.ts';
import { LIST_FILES } from '../../streamForm/draft/addressList.ts';
import { download } from '../../../ui/text/download.ts';
import { formatCount, formatQuantity } from '../../../ui/text/format.ts';
import { Button } from '../../../ui/button.tsx';
import { DialogFooter } from '../../../ui/dialog.tsx';
import { DropZone } from '../../../ui/form/dropZone.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { FileField, TextArea } from '../../../ui/form/field.tsx';
import { AddressVerdict } from '../../streamForm/addressVerdict.tsx';
import { useAddressList } from '../../streamForm/draft/useAddressList.ts';

/**
 * Checks a list that was typed, pasted or read from a file, then uploads it in parts, so that a
 * stopped import can be resumed.
 */
export function ImportAddresses({
  stream,
  onDone,
}: {
  stream: StreamSummary;
  onDone: (imported: ImportedAddresses) => void;
}) {
  const [text, setText] = useState('');
  /**
   * Name of the file; null for typed text. The field does not show the text of files, because
   * 100,000 lines would block the page for seconds.
   */
  const [fileName, setFileName] = useState<string | null>(null);
  const list = useAddressList(text, stream.family, fileName === null);
  const [done, setDone] = useState(0);
  const [state, setState] = useState<'idle' | 'sending' | 'sent'>('idle');
  const [error, setError] = useState<unknown>(null);
  const leaving = useRef<AbortController>(null);
  /**
   * The list's addresses that the stream already had, kept so that the import can be undone. Null
   * until they have been read.
   */
  const before = useRef<ImportedAddresses['before']>(null);
  useEffect(() => () => leaving.current?.abort(), []);

  const change = (next: string, from: string | null): void => {
    before.current = null;
    setText(next);
    setFileName(from);
    setDone(0);
    setState('idle');
    setError(null);
  };
  const readFile = async (file: File): Promise<void> => change(await file.text(), file.name);
  const send = async (): Promise<void> => {
    if (list === null) return;
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    setState('sending');
    setError(null);
    const { rows } = list;
    let sent = done;
    const onProgress = (count: number): void => setDone((sent = count));
    try {
      before.current ??= await readPresent(stream, rows, { signal, onProgress: () => {} });
      const { id: streamId, family } = stream;
      const wanted = { streamId, family, addresses: rows, from: done, onProgress };
      await sluice.importAddresses(wanted, { signal });
      setState('sent');
    } catch (problem) {
      setState('idle');
      if (!signal.aborted) setError(problem);
    }
    if (before.current !== null) onDone({ before: before.current, rows, done: sent });
  };

  const total = list?.rows.length ?? 0;
  return (
    <form
      aria-label="Import addresses"
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <DropZone onFile={(file) => void readFile(file)} className="grid gap-2">
        <TextArea
          label="Addresses, one per line, with an optional label"
          rows={8}
          placeholder={FORM_WORDS[stream.family].importLine}
          help={
            fileName === null
              ? 'Or drop a CSV file here.'
              : `Read from ${fileName}. Typing here discards these addresses.`
          }
          value={fileName === null ? text : ''}
          onChange={(event) => change(event.target.value, null)}
        />
        <div className="flex flex-wrap gap-2">
          <FileField
            label="Choose CSV file"
            accept={LIST_FILES}
            onFile={(file) => void readFile(file)}
          />
          <Button
            variant="quiet"
            onClick={() =>
              download('addresses.csv', FORM_WORDS[stream.family].sampleList, 'text/csv')
            }
          >
            <Download size={14} strokeWidth={1.5} aria-hidden="true" />
            Download sample
          </Button>
        </div>
      </DropZone>
      {list !== null && <AddressVerdict list={list} />}
      {state === 'sending' && (
        <div>
          <progress
            aria-label="Addresses imported"
            value={done}
            max={total}
            className="h-1.5 w-full accent-accent"
          />
          <p className="data mt-1 text-muted">
            {formatCount(done)} of {formatCount(total)}
          </p>
        </div>
      )}
      {error !== null && (
        <ErrorPanel
          what={`Import stopped after ${formatCount(done)} of ${formatCount(total)} addresses`}
          error={error}
          onRetry={() => void send()}
        />
      )}
      {state === 'sent' && (
        <output>{formatQuantity(total, 'address', 'addresses')} imported.</output>
      )}
      <DialogFooter cancel={state === 'sent' ? 'Done' : 'Cancel'}>
        {state === 'sending' && <Button onClick={() => leaving.current?.abort()}>Stop</Button>}
        {state !== 'sent' && (
          <Button
            type="submit"
            variant="primary"
            disabled={total === 0 || total === done || state === 'sending'}
          >
            {total === 0
              ? 'Import addresses'
              : done > 0 && state === 'idle'
                ? `Import the remaining ${formatQuantity(total - done, 'address', 'addresses')}`
                : `Import ${formatQuantity(total - done, 'address', 'addresses')}`}
          </Button>
        )}
      </DialogFooter>
    </form>
  );
}
