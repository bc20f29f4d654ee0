// Loads the preview of an email into its frame.
function show(root) {
  for (const form of root.querySelectorAll("form[data-shown]")) {
    form.submit();
    delete form.dataset.shown;
  }
}

show(document);
document.addEventListener("htmx:load", (event) => show(event.detail.elt));
