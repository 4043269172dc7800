/** The table of addresses that factories have created. */
export interface ChildTables {
  /**
   * An address that a stream watches on one chain, because a log of one of the stream's factories
   * has it. The rows follow the chain: the commit of the log's block inserts them, and a rewind
   * below it deletes them.
   */
  child: {
    stream_id: string;
    chain: string;
    /** Key of the factory, which depends only on its rules. */
    factory: string;
    /** Lowercase. */
    address: string;
    /** The first block with a log of the factory that has the address. */
    block_number: number;
  };
  /** The number of children of a factory on one chain, which changes with the rows of `child`. */
  child_list: {
    stream_id: string;
    chain: string;
    factory: string;
    children: number;
  };
  /** A label that a user gave to a child, on all chains. */
  child_label: {
    stream_id: string;
    /** Lowercase. */
    address: string;
    label: string;
  };
  /** A factory that was removed from a stream, whose children are not all deleted yet. */
  left_factory: {
    stream_id: string;
    factory: string;
  };
}
