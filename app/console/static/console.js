// Enhances pages that work without JavaScript. Listeners are on the document, so that content which htmx
// adds needs no setup; `initialize` is for what new content needs once.
import { focusError } from "./focus.js";
import "./forms.js";
import { inZone } from "./moments.js";
import { announce } from "./popups.js";
import "./selection.js";

function initialize(root) {
  // htmx replaces only the body, and the language can change with the account.
  const { lang, dir } = document.getElementById("time-format");
  Object.assign(document.documentElement, { lang, dir });
  inZone(root);
  announce();
}

initialize(document);
focusError(document);
document.addEventListener("htmx:load", (event) => initialize(event.detail.elt));
