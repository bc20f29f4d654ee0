// Moves the focus after a page change: to an error, or to the heading.

export function focusError(root) {
  const error = root.querySelector("[data-focus]") ?? root.querySelector("[aria-invalid=true]");
  error?.focus();
  return Boolean(error);
}

function moveFocus() {
  if (focusError(document)) {
    // htmx scrolls to the top of a new page after this event.
    queueMicrotask(() => document.activeElement.scrollIntoView({ block: "center" }));
    return;
  }
  if (document.querySelector("[autofocus]")) return;
  const heading = document.querySelector("h1") ?? document.getElementById("main");
  heading?.focus({ preventScroll: true });
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target === document.body) moveFocus();
});
document.addEventListener("htmx:historyRestore", moveFocus);
// A dismissed banner.
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.target.matches(".banner")) moveFocus();
});
// The button that opens a form in its place disappears with the focus.
document.addEventListener("toggle", ({ target }) => {
  if (target.matches(".add[open]") && !target.querySelector("[data-focus]")) target.querySelector("textarea").focus();
}, true);
