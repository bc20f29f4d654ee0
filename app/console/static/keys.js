// Keyboard shortcuts. Keys are no shortcuts while the user types.
import * as palette from "./palette.js";

const typing = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const isCommand = event.ctrlKey !== event.metaKey && key.toLowerCase() === "k";
  const action = isCommand ? palette.find : { "/": palette.search, "?": palette.help, j: inbox, k: inbox, e: inbox }[key];
  if (!action || event.altKey || (!isCommand && (event.ctrlKey || event.metaKey))) return;
  if (!document.getElementById("palette") || target.closest?.(typing)) return;
  if (document.querySelector("dialog[open]") || (!isCommand && !palette.singleKeys())) return;
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
  if (target.closest("[data-palette]")) palette.find();
  if (target.closest("[data-shortcuts]")) palette.help();
});
