/** A process that serves the seeded day, and says where, until its parent lets go of it. */
import { startSeededDay } from './seededDay.ts';

const { url, apiKey, stop } = await startSeededDay();
process.send?.({ url, apiKey });
process.once('disconnect', () => void stop().then(() => process.exit()));
