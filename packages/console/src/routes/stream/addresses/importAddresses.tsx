import type { StreamSummary } from '@sluice/kit/sluice';
import { FORM_WORDS } from '../../../families/formWords.ts';
import { Download } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { sluice } from '../../../data/queries/service.ts';
import { readPresent, type ImportedAddresses } from './addressChange.ts';
import { type AddressList, toRejectedList } from '@sluice/kit/operator';
import { LIST_FILES } from '../../streamForm/draft/addressList.ts';
import { download } from '../../../ui/text/download.ts';
import { formatCount, formatQuantity } from '../../../ui/text/format.ts';
import { Button } from '../../../ui/button.tsx';
import { DialogFooter } from '../../../ui/dialog.tsx';
import { DropZone } from '../../../ui/form/dropZone.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { FileField, TextArea } from '../../../ui/form/field.tsx';
import { DoubtfulAddresses } from '../../streamForm/doubtfulAddresses.tsx';

/** Maximum number of rejected lines that are shown; the download contains all of them. */
const SHOWN_REJECTS = 20;

/** Pause in typing after which the list is parsed. */
const REST_MS = 150;

/**
 * Parses the text in a worker: typed text after a pause, a file at once. Returns null for empty
 * text and before the first result.
 */
function useAddressList(
  text: string,
  family: StreamSummary['family'],
  isTyped: boolean,
): AddressList | null {
  const [list, setList] = useState<AddressList | null>(null);
  const isEmpty = text.trim() === '';
  useEffect(() => {
    if (isEmpty) return undefined;
    const worker = new Worker(
      new URL('../../streamForm/draft/addressList.worker.ts', import.meta.url),
      {
        type: 'module',
      },
    );
    worker.addEventListener('message', ({ data }: MessageEvent<AddressList>) => setList(data));
    const timer = setTimeout(() => worker.postMessage({ text, family }), isTyped ? REST_MS : 0);
    return () => {
      clearTimeout(timer);
      worker.terminate();
    };
  }, [text, family, isTyped, isEmpty]);
  return isEmpty ? null : list;
}

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
      {list !== null && <Verdict list={list} />}
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

function Verdict({ list }: { list: AddressList }) {
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
