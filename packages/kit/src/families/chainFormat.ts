/** How a chain family names its chains. */
export interface ChainFormat {
  /** Describes what `toChainId` accepts, for messages. */
  readonly accepts: string;
  /** Returns the id of a chain in its canonical form; undefined for any other value. */
  toChainId(value: unknown): string | undefined;
  /** Field of streams that names the chains. */
  readonly streamField: string;
  /** Returns the chain as `streamField` names it, by any of its accepted names. */
  toName(value: unknown): string | undefined;
  /** Returns the chain as fields of streams, flags and messages name it. */
  nameOf(chainId: string): string;
  /** Setting with the nodes of a chain: its flag, without dashes. */
  readonly nodeSetting: string;
  /** Placeholder for the URL of a node. */
  readonly nodeUrl: string;
  /** Returns what the URL of an added node should be, unless it is that. */
  nodeUrlProblem(url: string): string | undefined;
}
