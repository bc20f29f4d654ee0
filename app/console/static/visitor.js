// Single-use tokens in the URL: removed from the address bar, and sent automatically where the user has
// no choice to make.

function initialize(root) {
  if (root.querySelector("[data-clean]")) {
    history.replaceState(history.state, "", root.querySelector("[data-clean]").dataset.clean || location.pathname);
  }
  root.querySelector("form:has([data-send])")?.requestSubmit();
}

initialize(document);
document.addEventListener("htmx:load", (event) => initialize(event.detail.elt));
