// Forms: sent once, choices taken at once, passwords looked at, texts copied, light or dark.

// A second press while the first is under way does nothing.
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
  // Where a file comes instead of a page, nothing tells that it came.
  setTimeout(() => rest(form), 10_000);
}, true);

function rest(form) {
  form?.removeAttribute("aria-busy");
  form?.querySelector(".sent")?.classList.remove("sent");
}
document.addEventListener("htmx:afterRequest", (event) => rest(event.detail.elt.closest("form")));
// A page that the browser kept comes back as it was left.
addEventListener("pageshow", () => document.querySelectorAll("form[aria-busy]").forEach(rest));

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

const deeds = {
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
    say(button.dataset.done);
    setTimeout(() => {
      if (label) label.textContent = before;
      button.classList.remove("done");
    }, 2000);
  },
  themeNext() {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    const name = root.dataset.themeCookie;
    const secure = name.startsWith("__Host-") ? ";secure" : "";
    document.cookie = `${name}=${root.dataset.theme};path=/;max-age=31536000;samesite=lax${secure}`;
    // Set before the cookie had its prefix.
    if (secure) document.cookie = "fd-theme=;path=/;max-age=0";
  },
};

// For those who hear the page.
function say(text) {
  const region = document.querySelector(".toasts");
  const said = Object.assign(document.createElement("p"), { className: "hidden", textContent: text });
  region?.append(said);
  setTimeout(() => said.remove(), 2000);
}

document.addEventListener("click", (event) => {
  for (const [name, deed] of Object.entries(deeds)) {
    const attribute = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const button = event.target.closest(`[data-${attribute}]`);
    if (button) deed(button);
  }
});
