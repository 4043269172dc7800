/** PostgreSQL's code for a deadlock. */
const DEADLOCK = '40P01';
const MAX_TRIES = 5;

export async function retryDeadlocks<Result>(transact: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await transact();
    } catch (error) {
      const isDeadlock = [error, (error as Error).cause].some(
        (each) => (each as { code?: string } | undefined)?.code === DEADLOCK,
      );
      if (!isDeadlock || tries === MAX_TRIES) throw error;
    }
  }
}
