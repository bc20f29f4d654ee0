// Keyboard shortcuts. Keys are no shortcuts while the user types.
import * as palette from "./palette.js";

const typing = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const isCommand = event.ctrlKey !== event.metaKey && key.toLowerCase() === "k";
  const action = isCommand ? "find" : { "/": "search", "?": "help" }[key];
  if (!action || event.altKey || (!isCommand && (event.ctrlKey || event.metaKey))) return;
  if (!document.getElementById("palette") || target.closest?.(typing)) return;
  if (document.querySelector("dialog[open]") || (!isCommand && !palette.singleKeys())) return;
  event.preventDefault();
  palette[action]();
});
document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-palette]")) palette.find();
  if (target.closest("[data-shortcuts]")) palette.help();
});
