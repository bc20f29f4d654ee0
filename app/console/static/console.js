// What script adds to pages that work without it. Listeners stand on the document, so that what
// htmx puts into a page needs no set-up of its own; `arrived` is for what must be done once.
import { shown } from "./focus.js";
import "./forms.js";
import { inZone } from "./moments.js";
import { announce } from "./popups.js";

function arrived(root) {
  inZone(root);
  announce();
}

arrived(document);
shown(document);
document.addEventListener("htmx:load", (event) => arrived(event.detail.elt));
