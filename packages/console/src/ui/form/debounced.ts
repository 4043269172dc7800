import { useEffect, useState } from 'react';

/** Debounce time for typed text. */
const DEBOUNCE_MS = 200;

/**
 * Returns the latest value that stayed unchanged for the debounce time; until there is one, the
 * initial value.
 */
export function useDebounced<T>(value: T): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(() => value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}
