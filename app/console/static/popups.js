// What lies over a page: menus, questions, and what was just done.

// Menus close when one looks elsewhere; Escape leads back to what opened them.
const menus = "details:is(.menu, .opener)[open]";

function closeMenus(except) {
  for (const menu of document.querySelectorAll(menus)) {
    if (!menu.contains(except)) menu.open = false;
  }
}
document.addEventListener("click", (event) => {
  if (!event.target.closest(".rooms")) closeMenus(event.target);
});
document.addEventListener("focusin", (event) => {
  if (!event.target.closest(".rooms, main")) return;
  closeMenus(event.target.closest(".rooms") ? document.querySelector(".opener") : event.target);
});
document.addEventListener("keydown", (event) => {
  const menu = document.querySelector(menus);
  if (event.key === "Escape" && menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// A question that opens in place becomes a dialog, and goes back there when it is closed.
document.addEventListener("click", (event) => {
  const asked = event.target.closest("details[data-dialog] > summary");
  if (asked) {
    event.preventDefault();
    ask(asked.parentElement);
  }
  const closer = event.target.closest("[data-close]");
  if (closer) closer.closest("dialog")?.close();
  // A click beside it.
  if (event.target.matches("dialog[open]")) event.target.close();
});

function ask(details) {
  const body = details.querySelector(".ask");
  const dialog = document.createElement("dialog");
  const heading = body.querySelector("h2");
  heading.id ||= `asked-${Date.now()}`;
  dialog.setAttribute("aria-labelledby", heading.id);
  dialog.append(body);
  details.after(dialog);
  dialog.addEventListener("close", () => {
    details.append(body);
    dialog.remove();
    details.querySelector("summary").focus();
  });
  dialog.showModal();
}

// Screen readers tell what comes into a region, not what is there from the start.
export function announce() {
  for (const toast of document.querySelectorAll(".toasts:not([data-said]) > .toast")) {
    const region = toast.parentElement;
    region.dataset.said = "";
    toast.remove();
    requestAnimationFrame(() => region.append(toast));
    lasting(toast);
  }
}

// Long enough to be read and undone; it stays while it is pointed at or has the focus.
function lasting(toast) {
  const seconds = toast.querySelector("form") ? 20 : 8;
  const leave = () => {
    if (toast.matches(":hover, :focus-within")) return void setTimeout(leave, 3000);
    dismiss(toast);
  };
  setTimeout(leave, seconds * 1000);
}

function dismiss(toast) {
  toast.classList.add("leaving");
  setTimeout(() => toast.remove(), 250);
}

document.addEventListener("click", (event) => {
  const toast = event.target.closest("[data-dismiss]")?.closest(".toast");
  if (toast) dismiss(toast);
});
