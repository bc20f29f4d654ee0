// A mail in its frame, shown without being asked for.
function show(root) {
  for (const form of root.querySelectorAll("form[data-shown]")) {
    form.submit();
    delete form.dataset.shown;
  }
}

show(document);
document.addEventListener("htmx:load", (event) => show(event.detail.elt));
