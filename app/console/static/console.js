// Enhances pages that work without JavaScript. Listeners are on the document, so that content which htmx
// adds needs no setup; `initialize` is for what new content needs once.
import "./forms.js";
import { inZone } from "./moments.js";
import { announce } from "./popups.js";
import "./selection.js";

// Focuses the first error of a form.
function focusError() {
  const error = document.querySelector("[data-focus]") ?? document.querySelector("[aria-invalid=true]");
  error?.focus();
  return Boolean(error);
}

// Moves the focus after a page change: to an error, or to the heading.
function moveFocus() {
  if (focusError()) {
    // htmx scrolls to the top of a new page after this event.
    queueMicrotask(() => document.activeElement.scrollIntoView({ block: "center" }));
    return;
  }
  if (document.querySelector("[autofocus]")) return;
  const heading = document.querySelector("h1") ?? document.getElementById("main");
  heading?.focus({ preventScroll: true });
}

function initialize(root) {
  // htmx replaces only the body, and the language can change with the account.
  const { lang, dir } = document.getElementById("time-format");
  Object.assign(document.documentElement, { lang, dir });
  inZone(root);
  announce();
}

initialize(document);
focusError();
document.addEventListener("htmx:load", (event) => initialize(event.detail.elt));
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
