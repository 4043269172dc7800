/** Process that serves the sample day and sends its URL, until its parent disconnects. */
import { startSeededDay } from './seededDay.ts';

const { url, apiKey, stop } = await startSeededDay();
process.send?.({ url, apiKey });
process.once('disconnect', () => void stop().then(() => process.exit()));
