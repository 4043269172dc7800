// solc's own declarations say `any`; these are the two members we use.
declare module 'solc' {
  const solc: {
    /** Takes and returns standard JSON; `import` resolves each import path of the sources. */
    compile(
      input: string,
      callbacks: { import(path: string): { contents: string } | { error: string } },
    ): string;
    version(): string;
  };
  export default solc;
}
