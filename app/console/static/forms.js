// Forms: sent once, choices taken at once, passwords looked at, texts copied, light or dark.

// A second press while the first is under way does nothing.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("aria-busy") === "true") {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  if (form.method === "get") return;
  event.submitter?.classList.add("sent");
  form.setAttribute("aria-busy", "true");
  // Where a file comes instead of a page, nothing tells that it came.
  setTimeout(() => form.removeAttribute("aria-busy"), 10_000);
}, true);

function rested(root) {
  for (const form of root.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
  for (const button of root.querySelectorAll(".sent")) button.classList.remove("sent");
}
document.addEventListener("htmx:afterRequest", () => rested(document));
// A page that the browser kept comes back as it was left.
addEventListener("pageshow", () => rested(document));

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
    document.cookie = `fd-theme=${root.dataset.theme};path=/;max-age=31536000;samesite=lax`;
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
