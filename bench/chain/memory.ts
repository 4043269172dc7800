/** Reads the resident memory of another process, as reported by Linux. */
import { readFileSync } from 'node:fs';

const KB = 1_024;

const readField = (pid: number, field: string): number => {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  );
  return Number(found?.[1] ?? 0) * KB;
};

export const readResident = (pid: number): number => readField(pid, 'VmRSS');

/** Returns the peak resident memory since the process started, in bytes. */
export const readPeak = (pid: number): number => readField(pid, 'VmHWM');
