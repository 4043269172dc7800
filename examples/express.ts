/** A webhook route of an Express app; the rest of the app parses JSON as ever. */
import { toExpress } from '@sluice/kit/express';
import express from 'express';
import { handler } from './handler.ts';

const app = express();
// Before any parser: the signature covers the raw body.
app.post('/webhooks', toExpress(handler));
app.use(express.json());
app.get('/health', (_, response) => void response.json({ ok: true }));
app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
