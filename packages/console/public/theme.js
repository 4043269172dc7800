// Runs before the first paint, so a remembered theme does not flash the other one.
// A file of its own because the page's policy allows no inline script.
try {
  const theme = localStorage.getItem('sluice.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be blocked; the system's theme stands then.
}
