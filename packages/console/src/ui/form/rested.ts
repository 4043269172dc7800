import { useEffect, useState } from 'react';

/** Debounce time for typed text. */
const REST_MS = 200;

/** Returns the value after it has not changed for the debounce time. */
export function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
