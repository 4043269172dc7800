// Runs before the first paint, so that a remembered theme or density does not flash another one.
// A file of its own because the page's policy allows no inline script.
try {
  for (const name of ['theme', 'density']) {
    const chosen = localStorage.getItem(`sluice.${name}`);
    if (chosen !== null) document.documentElement.dataset[name] = chosen;
  }
} catch {
  // Storage may be blocked; what the console has by default stands then.
}
