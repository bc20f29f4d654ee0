// Menus, confirmation dialogs and toasts.

// Menus close on a click or focus outside; Escape returns the focus to the opener.
const menus = "details:is(.menu, .opener)[open]";

function closeMenus(except) {
  for (const menu of document.querySelectorAll(menus)) {
    if (!menu.contains(except)) menu.open = false;
  }
}
document.addEventListener("click", (event) => {
  if (!event.target.closest(".sections")) closeMenus(event.target);
});
document.addEventListener("focusin", (event) => {
  if (!event.target.closest(".sections, main")) return;
  closeMenus(event.target.closest(".sections") ? document.querySelector(".opener") : event.target);
});
document.addEventListener("keydown", (event) => {
  const menu = document.querySelector(menus);
  if (event.key === "Escape" && menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// The arrow keys, Home and End move between the items of a menu; an arrow key also opens it.
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest("details.menu");
  const items = [...(menu?.querySelectorAll(".item") ?? [])];
  const at = items.indexOf(event.target);
  const last = items.length - 1;
  const next = { ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last };
  if (menu?.open) Object.assign(next, { Home: 0, End: last });
  if (!items.length || !(event.key in next)) return;
  event.preventDefault();
  menu.open = true;
  items[next[event.key]].focus();
});

// A confirmation becomes a dialog, and returns to its place when it is closed.
document.addEventListener("click", (event) => {
  const summary = event.target.closest("details[data-dialog] > summary");
  if (summary) {
    event.preventDefault();
    openDialog(summary.parentElement);
  }
  const closer = event.target.closest("[data-close]");
  if (closer) closer.closest("dialog")?.close();
  // A click outside of the dialog.
  if (event.target.matches("dialog[open]")) event.target.close();
});

function openDialog(details) {
  const body = details.querySelector(".ask");
  const dialog = document.createElement("dialog");
  const heading = body.querySelector("h2");
  heading.id ||= `confirm-${Date.now()}`;
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

// Screen readers announce only elements that are added to a region, so toasts are added again.
export function announce() {
  for (const toast of document.querySelectorAll(".toasts:not([data-announced]) > .toast")) {
    const region = toast.parentElement;
    region.dataset.announced = "";
    toast.remove();
    requestAnimationFrame(() => region.append(toast));
    dismissLater(toast);
  }
}

// Dismiss a toast after enough time to read it, unless it is hovered or focused.
function dismissLater(toast) {
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
