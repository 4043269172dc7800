/**
 * Resolves when the process is first asked to stop. Later signals change nothing: stopping has its
 * own deadline, and one Ctrl-C reaches us both from the terminal and from npm.
 */
export function untilAskedToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => resolve());
    }
  });
}
