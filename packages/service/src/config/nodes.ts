/** Nodes of chains in settings: `<chain>=<url>[,option=value]` on the command line. */
import * as z from 'zod';
import { InvalidValue } from './setting.ts';

/** A node that was added while the service ran; see `secrets/addedUrls.ts`. */
export interface AddedNode {
  id: string;
  url: string;
}

const MIN_POLL_MS = 20;

/** The options of a node. Each family has some of them. */
export const NODE_OPTIONS = {
  confirmations: z
    .union([z.int().min(0), z.literal('finalized')], 'should be a whole number, or finalized')
    .describe(
      'Number of blocks that must follow before a match is confirmed, or "finalized" for the finality that the chain reports',
    )
    .optional(),
  poll: z
    .int('should be a whole number')
    .min(MIN_POLL_MS, `should be at least ${MIN_POLL_MS} (milliseconds)`)
    .describe('Milliseconds between polls of the head')
    .optional(),
  trust: z
    .enum(['evidence', 'strict', 'node'], 'should be trust=evidence, trust=strict or trust=node')
    .describe(
      'The evidence that a block needs: what the nodes offer (default), proofs, or the word of a node',
    )
    .optional(),
  operator: z
    .string()
    .min(1, 'should name the operator of the node')
    .describe(
      'The operator of this node; nodes of one operator count as one witness. Default: the domain of the URL',
    )
    .optional(),
  accept: z
    .literal('unverified', 'should be accept=unverified')
    .meta({ deprecated: true, description: 'Now trust: evidence' })
    .optional(),
  proof: z
    .enum(['on', 'off'], 'should be proof=on or proof=off')
    .meta({ deprecated: true, description: 'Now trust: strict, or trust: node' })
    .optional(),
  verify: z
    .literal('headers', 'should be verify=headers')
    .meta({ deprecated: true, description: 'Now ranges: verified' })
    .optional(),
  ranges: z
    .literal('verified', 'should be ranges=verified')
    .describe('Verifies log searches by reading the header of every searched block')
    .optional(),
} as const;

type NodeOptions = Readonly<Partial<typeof NODE_OPTIONS>>;
type NodeOption = keyof typeof NODE_OPTIONS;

/** Creates the type of a chain's nodes and options in `sluice.yaml`. */
export const nodesSchema = <Options extends NodeOptions>(options: Options) =>
  z.strictObject({
    nodes: z.array(z.string()).min(1).describe('URLs of one or more nodes'),
    ...options,
  });

/** Splits comma-separated options from the end of the URL, which may itself contain commas. */
export function splitNodeOptions(text: string): {
  url: string;
  options: [NodeOption, string][];
} {
  const options: [NodeOption, string][] = [];
  let url = text;
  for (;;) {
    const at = url.lastIndexOf(',');
    const [, name = '', value = ''] = /^,([a-z]+)=([^=]*)$/.exec(at < 0 ? '' : url.slice(at)) ?? [];
    if (!Object.hasOwn(NODE_OPTIONS, name)) return { url, options: options.reverse() };
    url = url.slice(0, at);
    options.push([name as NodeOption, value]);
  }
}

/**
 * Reads the options of a node.
 *
 * @param text the complete value of the setting
 * @param foreign why an option of another family is invalid
 * @throws InvalidValue
 */
export function readNodeOptions<Options extends NodeOptions>(
  types: Options,
  { text, options, foreign }: { text: string; options: [NodeOption, string][]; foreign: string },
): { [Name in keyof Options]?: z.output<NonNullable<Options[Name]>> } {
  const values: Partial<Record<NodeOption, unknown>> = {};
  for (const [name, value] of options) {
    const type: z.ZodType | undefined = types[name];
    if (type === undefined) throw new InvalidValue(text, `${name} ${foreign}`);
    let read = type.safeParse(value);
    if (!read.success && /^\d{1,15}$/.test(value)) read = type.safeParse(Number(value));
    if (!read.success) {
      throw new InvalidValue(text, `${name}=${value} ${read.error.issues[0]!.message}`);
    }
    values[name] = read.data;
  }
  return values as { [Name in keyof Options]?: z.output<NonNullable<Options[Name]>> };
}
