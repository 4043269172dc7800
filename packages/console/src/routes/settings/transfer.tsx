import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys } from '../../data/queries/service.ts';
import { download } from '../../ui/text/download.ts';
import { importStream, parseExport, readExport, type ExportedStream } from './exportFile.ts';
import { formatQuantity } from '../../ui/text/format.ts';
import { nameOfStream } from '../../words/names.ts';
import { Button } from '../../ui/button.tsx';
import { DropZone } from '../../ui/form/dropZone.tsx';
import { FileField } from '../../ui/form/field.tsx';
import { Status } from '../../ui/status.tsx';

interface Line {
  stream: ExportedStream;
  state: 'waiting' | 'done' | 'failed';
  error: string;
}

const LINE_CONDITIONS = {
  waiting: { shape: 'dashed', word: 'waiting', tone: 'muted' },
  done: { shape: 'disc', word: 'created', tone: 'ok' },
  failed: { shape: 'triangle', word: 'failed', tone: 'bad' },
} as const;

/** Exports every stream with its addresses to a file, and imports such a file. */
export function StreamTransfer() {
  const queryClient = useQueryClient();
  const [read, setRead] = useState<number | null>(null);
  const [lines, setLines] = useState<Line[]>([]);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');

  const exportAll = async (): Promise<void> => {
    setProblem('');
    setRead(0);
    try {
      const file = await readExport(setRead);
      download('sluice-streams.json', JSON.stringify(file, null, 2), 'application/json');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setRead(null);
  };
  const open = async (file: File): Promise<void> => {
    setProblem('');
    try {
      const { streams } = parseExport(await file.text());
      setLines(streams.map((stream) => ({ stream, state: 'waiting', error: '' })));
    } catch (error) {
      setLines([]);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const importAll = async (): Promise<void> => {
    setBusy(true);
    let current = lines;
    for (const [index, line] of lines.entries()) {
      if (line.state === 'done') continue;
      const next: Line = await importStream(line.stream).then(
        () => ({ ...line, state: 'done', error: '' }),
        (error: unknown) => ({
          ...line,
          state: 'failed',
          error: error instanceof Error ? error.message : String(error),
        }),
      );
      current = current.with(index, next);
      setLines(current);
    }
    setBusy(false);
    await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
  };

  const left = lines.filter(({ state }) => state !== 'done').length;
  return (
    <>
      <p className="text-muted">
        The export is a file with all streams, their rules and their addresses. It includes the
        values of custom headers and any credentials in webhook URLs, but no signing or client
        secrets and no deliveries.
      </p>
      <DropZone onFile={(file) => void open(file)} className="mt-2 flex flex-wrap gap-2">
        <Button disabled={read !== null} onClick={() => void exportAll()}>
          {read === null ? 'Export streams' : `Exporting: ${formatQuantity(read, 'stream')}`}
        </Button>
        <FileField
          label="Import from a file"
          accept="application/json,.json"
          onFile={(file) => void open(file)}
        />
      </DropZone>
      {problem !== '' && (
        <p role="alert" className="mt-2 text-bad">
          {problem}
        </p>
      )}
      {lines.length > 0 && (
        <>
          <ul className="mt-2 border-t border-line">
            {lines.map(({ stream: { stream, addresses }, state, error }) => (
              <li
                key={stream.id}
                className="flex min-h-row flex-wrap items-center gap-x-4 border-b border-line"
              >
                <Status condition={LINE_CONDITIONS[state]} className="w-20" />
                <span className="min-w-0 truncate font-medium">{nameOfStream(stream)}</span>
                <span className="text-muted">
                  {formatQuantity(addresses.length, 'address', 'addresses')}
                </span>
                {error !== '' && <span className="basis-full break-words text-bad">{error}</span>}
              </li>
            ))}
          </ul>
          {left > 0 && (
            <Button
              variant="primary"
              className="mt-2"
              disabled={busy}
              onClick={() => void importAll()}
            >
              {busy ? 'Importing…' : `Import ${formatQuantity(left, 'stream')}`}
            </Button>
          )}
        </>
      )}
    </>
  );
}
