// Runs before the first paint. It is a separate file, because the page's policy forbids inline
// scripts.

// Applies the stored theme and density before the page is visible.
try {
  for (const name of ['theme', 'density']) {
    const chosen = localStorage.getItem(`sluice.${name}`);
    if (chosen !== null) document.documentElement.dataset[name] = chosen;
  }
} catch {
  // If storage is blocked, the defaults apply.
}

// Records keys typed before the console has loaded; `heldKeys.ts` replays them.
{
  const events = [];
  const keep = (event) => {
    // Keeps the browser from opening its own search.
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') event.preventDefault();
    events.push(event);
  };
  addEventListener('keydown', keep, true);
  window.earlyKeys = { events, stop: () => removeEventListener('keydown', keep, true) };
}
