import { useEffect, useState } from 'react';

/** Debounce time for typed text. */
const REST_MS = 200;

/**
 * Returns the latest value that stayed unchanged for the debounce time; until there is one, the
 * initial value.
 */
export function useDebounced<T>(value: T): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
