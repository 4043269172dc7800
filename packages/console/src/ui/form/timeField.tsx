import { useState } from 'react';
import { TextField } from './field.tsx';
import { parseTimeText } from './period/period.ts';

/** A field for a date and a time in 24 hours, in the chosen zone. */
export function TimeField({
  label,
  text,
  error,
  onText,
}: {
  label: string;
  /** The typed text, as `parseTimeText` reads it. */
  text: string;
  /** Error of the form. An invalid text has its own error, which appears when the field is left. */
  error?: string | undefined;
  onText: (text: string) => void;
}) {
  const [isLeft, setLeft] = useState(false);
  const isInvalid = isLeft && parseTimeText(text) === null;
  return (
    <TextField
      label={label}
      mono
      placeholder="YYYY-MM-DD HH:MM"
      maxLength={16}
      error={isInvalid ? 'Enter a time such as 2026-11-05 09:04.' : error}
      value={text}
      onChange={(event) => onText(event.target.value)}
      onFocus={() => setLeft(false)}
      onBlur={() => setLeft(true)}
    />
  );
}
