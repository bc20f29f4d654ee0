// Where a reader is after a page has changed under them: at what went wrong, or at its heading.

export function shown(root) {
  const wrong = root.querySelector("[data-focus]") ?? root.querySelector("[aria-invalid=true]");
  wrong?.focus();
  return Boolean(wrong);
}

function moved() {
  if (shown(document) || document.querySelector("[autofocus]")) return;
  const heading = document.querySelector("h1") ?? document.getElementById("main");
  heading?.focus({ preventScroll: true });
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target === document.body) moved();
});
document.addEventListener("htmx:historyRestore", moved);
