// Declares the two members of solc that we use; its own declarations use `any`.
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
