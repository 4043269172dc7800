import { clsx } from 'clsx';
import { useId, useRef, useState } from 'react';
import { formatQuantity } from '../text/format.ts';
import { indexOf, type LineProblem } from './lineProblem.ts';
import { BOX_CLASSES, Labeled, type FieldTexts } from './field.tsx';

/**
 * Height of a line, and top padding of the gutter, which is inset to keep the focus ring visible.
 */
const LINE_PX = 18;
const TOP_PX = 5;
/** Maximum numbers of problems: those listed below the text, and those marked in the gutter. */
const SHOWN = 5;
const MARKED = 200;
/** Maximum number of lines to which the area grows with its text. */
const MAX_ROWS = 12;

/**
 * A text area with one item per line, without wrapping. Problems are marked next to their line and
 * listed below, except for the line that is being typed.
 */
export function LineArea({
  label,
  help,
  error,
  problems,
  rows = 3,
  value,
  onChange,
  className,
  ...props
}: FieldTexts & {
  /** Problems, ordered by line. */
  problems: readonly LineProblem[];
  value: string;
  onChange: (value: string) => void;
} & Omit<React.ComponentProps<'textarea'>, 'value' | 'onChange' | 'wrap'>) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const [writing, setWriting] = useState<number | null>(null);
  const said = problems.filter(({ line }) => line !== writing);
  const lines = value.split('\n').length;

  const goTo = (problem: LineProblem): void => {
    const from = indexOf(value, problem);
    const [word = ''] = /^([\w$]+|.)/.exec(value.slice(from)) ?? [];
    area.current?.focus();
    area.current?.setSelectionRange(from, from + word.length);
    area.current?.scrollTo({ top: (problem.line - 2) * LINE_PX });
  };

  return (
    <Labeled id={id} label={label} help={help} error={error}>
      <div
        className="data relative"
        style={{ '--gutter': `calc(${String(lines).length}ch + 24px)` } as React.CSSProperties}
      >
        <div
          aria-hidden="true"
          className="pointer-events-none absolute inset-y-0.5 left-0.5 w-(--gutter) overflow-hidden border-r border-line pr-1.5 text-right text-faint select-none"
        >
          <div ref={gutter} className="relative py-[5px] whitespace-pre">
            {Array.from({ length: lines }, (_, index) => index + 1).join('\n')}
            {[...new Set(said.slice(0, MARKED).map(({ line }) => line))].map((line) => (
              <span
                key={line}
                className="absolute left-1 grid h-4.5 place-items-center text-bad"
                style={{ top: TOP_PX + (line - 1) * LINE_PX }}
              >
                <span className="shape shape-triangle" />
              </span>
            ))}
          </div>
        </div>
        <textarea
          ref={area}
          id={id}
          aria-invalid={said.length > 0 || error !== undefined}
          aria-describedby={clsx(
            `${id}-lines`,
            (help !== undefined || error !== undefined) && `${id}-more`,
          )}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          wrap="off"
          rows={Math.max(rows, Math.min(lines, MAX_ROWS))}
          value={value}
          onChange={(event) => {
            const { inputType = '', data } = event.nativeEvent as Partial<InputEvent>;
            const before = event.target.value.slice(0, event.target.selectionStart);
            // Shows the problems of pasted text at once, but the problems of typed text only when
            // the line is complete.
            const isTyped = data?.length === 1 || inputType.startsWith('delete');
            setWriting(isTyped ? before.split('\n').length : null);
            onChange(event.target.value);
          }}
          onBlur={() => setWriting(null)}
          onScroll={({ currentTarget }) => {
            if (gutter.current === null) return;
            gutter.current.style.transform = `translateY(${-currentTarget.scrollTop}px)`;
          }}
          className={clsx(
            BOX_CLASSES,
            'block min-h-16 resize-y py-1.5 pl-[calc(var(--gutter)+8px)]',
            className,
          )}
          {...props}
        />
      </div>
      <div id={`${id}-lines`}>
        {said.length > 0 && (
          <ul className="mt-1 text-12">
            {said.slice(0, SHOWN).map((problem) => (
              <li key={`${problem.line} ${problem.column}`}>
                <button
                  type="button"
                  onClick={() => goTo(problem)}
                  className="block min-h-6 w-full rounded-control py-0.5 text-left wrap-anywhere text-bad hover:bg-raised pointer-coarse:min-h-11"
                >
                  Line {problem.line}
                  {problem.column > 1 && `, column ${problem.column}`}: {problem.message}
                </button>
              </li>
            ))}
          </ul>
        )}
        {said.length > SHOWN && (
          <p className="text-12 text-bad">
            {formatQuantity(said.length - SHOWN, 'more line')} with errors.
          </p>
        )}
      </div>
      <output className="sr-only">
        {said.length > 0 && `${formatQuantity(said.length, 'line')} with errors`}
      </output>
    </Labeled>
  );
}
