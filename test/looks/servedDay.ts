/**
 * A child process that serves the sample day. It sends the URL and the API key to its parent, and
 * exits when the parent disconnects.
 */
import { startSeededDay } from './seededDay.ts';

const { url, apiKey, stop } = await startSeededDay();
process.send?.({ url, apiKey });
process.once('disconnect', () => void stop().then(() => process.exit()));
