// Forms and buttons: single submission, unsaved changes, automatic submission, visible passwords, copying,
// color scheme.
import { store } from "./moments.js";

// Ignore a second submission while the first is in progress.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("aria-busy") === "true") {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  if (form.method !== "post") return;
  event.submitter?.classList.add("sent");
  form.setAttribute("aria-busy", "true");
  // A download does not replace the page, so the form is released after a while.
  setTimeout(() => release(form), 10_000);
}, true);

function release(form) {
  form?.removeAttribute("aria-busy");
  form?.querySelector(".sent")?.classList.remove("sent");
}
document.addEventListener("htmx:afterRequest", (event) => release(event.detail.elt.closest("form")));
// The browser restores pages of its history in their last state.
addEventListener("pageshow", () => document.querySelectorAll("form[aria-busy]").forEach(release));

// Unsaved changes of signed-in users: the browser asks before the page is left, unless a form is sent.
const unsaved = ".desk form[data-unsaved]";

document.addEventListener("input", (event) => {
  const { form, type } = event.target;
  if (form?.matches("[method=post]:not([data-selection])") && type !== "password") form.dataset.unsaved = "";
});
document.addEventListener("submit", (event) => delete event.target.dataset.unsaved, true);
document.addEventListener("htmx:sendError", (event) => {
  if (event.detail.elt.matches("form[method=post]")) event.detail.elt.dataset.unsaved = "";
});
addEventListener("beforeunload", (event) => {
  if (document.querySelector(unsaved)) event.preventDefault();
});
// Going back or forward within the console: htmx replaces the page, so this asks instead of the browser.
// Browsers without this API do not ask. Back within a form of several steps goes to the step before, which
// has the same URL.
globalThis.navigation?.addEventListener("navigate", (event) => {
  if (event.navigationType !== "traverse" || !event.cancelable || !document.querySelector(unsaved)) return;
  const before = document.querySelector("[data-back]");
  if (before && event.destination.index < navigation.currentEntry.index) {
    event.preventDefault();
    setTimeout(() => before.click());
    return;
  }
  if (!confirm(document.querySelector("[data-leave]").dataset.leave)) event.preventDefault();
});
// A link loads the whole page then, because htmx would replace the form without a question.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && !link.getAttribute("href").startsWith("#") && document.querySelector(unsaved)) {
    event.stopPropagation();
  }
}, true);

// Enter presses the next button after the field, not the first button of the form.
document.addEventListener("keydown", (event) => {
  const { form } = event.target;
  const isField = event.target.matches("input:not([type=file], [type=submit])");
  if (event.key !== "Enter" || event.isComposing || !isField || form?.method !== "post") return;
  const controls = [...form.elements];
  const next = controls.slice(controls.indexOf(event.target)).find(({ type }) => type === "submit");
  if (!next) return;
  event.preventDefault();
  next.click();
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

const actions = {
  reveal(button) {
    const input = document.getElementById(button.getAttribute("aria-controls"));
    const isShown = input.type === "text";
    input.type = isShown ? "password" : "text";
    button.setAttribute("aria-pressed", String(!isShown));
  },
  async copy(button) {
    await navigator.clipboard.writeText(button.dataset.copy);
    const label = button.getAttribute("aria-label") === null ? button.lastChild : null;
    const before = label?.textContent;
    if (label) label.textContent = button.dataset.done;
    button.classList.add("done");
    announce(button.dataset.done);
    setTimeout(() => {
      if (label) label.textContent = before;
      button.classList.remove("done");
    }, 2000);
  },
  print: () => print(),
  themeNext() {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    store(root.dataset.themeCookie, root.dataset.theme);
  },
};

// Announce a text to screen readers.
function announce(text) {
  const region = document.querySelector(".toasts");
  const message = Object.assign(document.createElement("p"), { className: "hidden", textContent: text });
  region?.append(message);
  setTimeout(() => message.remove(), 2000);
}

document.addEventListener("click", (event) => {
  for (const [name, action] of Object.entries(actions)) {
    const attribute = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const button = event.target.closest(`[data-${attribute}]`);
    if (button) action(button);
  }
});
