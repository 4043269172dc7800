/** How the console shows chains of a family. */
export interface ChainPages {
  /** Path segments of the pages of block explorers. */
  readonly segments: Readonly<Record<ExplorerPage, string>>;
  /** Returns whether a hex value of a record may be an address. */
  mayBeAddress(value: string): boolean;
  /** Id of a chain, as an example. */
  readonly example: string;
  /** Id of the local development chain. */
  readonly local: string;
}

export type ExplorerPage = 'transaction' | 'address' | 'block';
