// The command palette: finds pages of the navigation and, for admins, accounts, workspaces and broadcasts. The focus stays in the input;
// the chosen option is its active descendant. Also the keyboard shortcuts and their dialog.

// Single keys disturb speech input, so the user can turn them off.
const name = "fd-single-keys";

function singleKeys() {
  try {
    return localStorage.getItem(name) !== "off";
  } catch {
    // The browser stores nothing for this site.
    return true;
  }
}

function setSingleKeys(on) {
  try {
    localStorage.setItem(name, on ? "on" : "off");
  } catch {
    // The choice lasts until the next page.
  }
}

const MIN_LENGTH = 2;
const DELAY = 150;
let timer;
let request;

const parts = () => {
  const dialog = document.getElementById("palette");
  const list = dialog.querySelector("[role=listbox]");
  const [pages, results] = list.children;
  return { dialog, list, pages, results, input: dialog.querySelector("input"), status: dialog.querySelector("[role=status]") };
};
const options = () => [...parts().list.querySelectorAll("[role=option]")];

function find() {
  const { dialog, input } = parts();
  // A menu of a narrow screen would cover the dialog's opener.
  document.querySelectorAll("details:is(.menu, .opener)[open]").forEach((menu) => { menu.open = false; });
  input.value = "";
  dialog.showModal();
  update();
}

function search() {
  const field = document.querySelector("main input[type=search]");
  if (!field) return find();
  field.focus();
  field.select();
}

function help() {
  document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = false; });
  const dialog = document.getElementById("shortcuts");
  dialog.querySelector("#single-keys").checked = singleKeys();
  dialog.showModal();
}

function update() {
  const { pages, results, input } = parts();
  const text = input.value.trim();
  const links = [...document.querySelectorAll(".side nav a")];
  const found = links.filter((link) => title(link).toLocaleLowerCase().includes(text.toLocaleLowerCase()));
  pages.replaceChildren(...found.map(pageOption));
  clearTimeout(timer);
  request?.abort();
  results?.replaceChildren();
  show();
  if (results && text.length >= MIN_LENGTH) timer = setTimeout(() => findMore(text), DELAY);
}

function title(link) {
  return [...link.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data).join("").trim();
}

function pageOption(link, index) {
  const option = document.createElement("a");
  Object.assign(option, { id: `found-page-${index}`, href: link.href, tabIndex: -1 });
  option.setAttribute("role", "option");
  if (link.hasAttribute("hx-boost")) option.setAttribute("hx-boost", "false");
  option.append(link.querySelector("svg")?.cloneNode(true) ?? "", title(link));
  return option;
}

async function findMore(text) {
  const { dialog, results, status } = parts();
  request = new AbortController();
  const { signal } = request;
  try {
    const response = await fetch(`${results.dataset.url}?${new URLSearchParams({ search: text })}`, {
      headers: { "HX-Request": "true" }, signal,
    });
    // A redirect leads to the sign-in page.
    if (!response.ok || response.redirected) throw new Error(response.statusText);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    results.replaceChildren(...page.body.children);
    show();
  } catch {
    if (!signal.aborted) status.textContent = dialog.dataset.failed;
  }
}

function show() {
  const { dialog, list, input, status } = parts();
  const all = options();
  for (const group of list.children) group.hidden = !group.children.length;
  // The page that an option opens has the focus at its heading, like the page of any other link.
  htmx.process(list);
  list.hidden = !all.length;
  input.setAttribute("aria-expanded", String(Boolean(all.length)));
  choose(all[0]);
  const { none, some } = dialog.dataset;
  status.textContent = all.length ? some.replace("{n}", all.length) : none;
}

function choose(option) {
  const { input } = parts();
  for (const each of options()) each.setAttribute("aria-selected", String(each === option));
  if (option) input.setAttribute("aria-activedescendant", option.id);
  else input.removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("input", (event) => {
  if (event.target.matches("#palette input")) update();
});
document.addEventListener("change", (event) => {
  if (event.target.matches("#single-keys")) setSingleKeys(event.target.checked);
});
document.addEventListener("keydown", (event) => {
  if (event.isComposing || !event.target.matches("#palette input")) return;
  const all = options();
  const at = all.findIndex((each) => each.getAttribute("aria-selected") === "true");
  const next = { ArrowDown: (at + 1) % all.length, ArrowUp: (at - 1 + all.length) % all.length }[event.key];
  if (next !== undefined && all.length) choose(all[next]);
  else if (event.key === "Enter") all[at]?.click();
  else return;
  event.preventDefault();
});

// Keys are no shortcuts while the user types.
const typing = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const isCommand = event.ctrlKey !== event.metaKey && key.toLowerCase() === "k";
  const action = isCommand ? find : { "/": search, "?": help, j: inbox, k: inbox, e: inbox }[key];
  if (!action || event.altKey || (!isCommand && (event.ctrlKey || event.metaKey))) return;
  if (!document.getElementById("palette") || target.closest?.(typing)) return;
  if (document.querySelector("dialog[open]") || (!isCommand && !singleKeys())) return;
  event.preventDefault();
  action(key);
});

// In the inbox, j and k move to the older and the newer message, and e deletes the message. Of an open
// message, they press its buttons.
function inbox(key) {
  const rows = [...document.querySelectorAll("#items > li")];
  const at = rows.indexOf(document.activeElement.closest("#items > li"));
  if (document.getElementById("delete_item")) document.getElementById({ j: "older_item", k: "newer_item", e: "delete_item" }[key])?.click();
  else if (key === "e") rows[at]?.querySelector("[id^=delete_item]").click();
  else rows[at < 0 ? 0 : key === "j" ? at + 1 : at - 1]?.querySelector(".through").focus();
}
document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-palette]")) find();
  if (target.closest("[data-shortcuts]")) help();
});
