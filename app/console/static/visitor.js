// What comes in an address and is for one use: taken out of the address bar, and sent on by itself
// where there is nothing to decide.

function arrived(root) {
  if (root.querySelector("[data-clean]")) {
    history.replaceState(history.state, "", root.querySelector("[data-clean]").dataset.clean || location.pathname);
  }
  root.querySelector("form:has([data-send])")?.requestSubmit();
}

arrived(document);
document.addEventListener("htmx:load", (event) => arrived(event.detail.elt));
