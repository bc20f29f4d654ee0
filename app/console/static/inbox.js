// Polls for new messages while the inbox is visible; most responses are 304. New messages never move the
// message that the user is reading.

const SECONDS = 20;

// Shows the number of unread messages in the title, the navigation and the tab.
function showUnread(unread) {
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = unread ? `(${unread}) ${title}` : title;
  for (const place of document.querySelectorAll(".sections [aria-current], .tabs a:last-child")) {
    let count = place.querySelector(".count");
    if (!unread) {
      count?.remove();
      continue;
    }
    if (!count) place.append(count = Object.assign(document.createElement("span"), { className: "count" }));
    count.textContent = unread < 1000 ? unread : "999+";
  }
}
document.addEventListener("fd:unread", (event) => showUnread(event.detail.value));

class Inbox extends HTMLElement {
  connectedCallback() {
    this.after = Number(this.dataset.after);
    this.timer = setInterval(() => this.poll(), SECONDS * 1000);
    this.onVisible = () => this.poll();
    document.addEventListener("visibilitychange", this.onVisible);
    for (const kind of ["pointerleave", "focusout"]) this.list.addEventListener(kind, () => this.insert());
  }

  disconnectedCallback() {
    clearInterval(this.timer);
    document.removeEventListener("visibilitychange", this.onVisible);
  }

  get list() {
    return document.getElementById("items");
  }

  async poll() {
    if (document.visibilityState !== "visible" || this.isPolling || !this.list.offsetParent) return;
    this.isPolling = true;
    try {
      const headers = { "HX-Request": "true" };
      if (this.tag) headers["If-None-Match"] = this.tag;
      const response = await fetch(`${this.dataset.url}&after=${this.after}`, { headers, cache: "no-store" });
      if (response.status === 200) this.read(response.headers.get("ETag"), await response.text());
      // The session has ended: the reload leads to the sign-in page.
      else if (response.status === 401) location.reload();
    } catch {
      // The network is unavailable: try again in the next interval.
    } finally {
      this.isPolling = false;
    }
  }

  read(tag, text) {
    const found = new DOMParser().parseFromString(text, "text/html").querySelector("[data-unread]");
    if (!found || !this.isConnected) return;
    this.tag = tag;
    showUnread(Number(found.dataset.unread));
    this.waiting = found.querySelector("ol");
    document.getElementById("arrived").replaceChildren(...found.querySelectorAll("p > a"));
    this.insert();
  }

  // Insert new messages, but not while the list is hovered or focused: then a button inserts them.
  insert(isRequested = false) {
    const { list, waiting } = this;
    if (!waiting || (!isRequested && list.matches(":hover, :focus-within"))) return;
    this.waiting = this.tag = null;
    const first = list.firstElementChild;
    const before = first?.getBoundingClientRect().top;
    const items = [...waiting.children].filter((item) => !document.getElementById(item.id));
    for (const item of items.reverse()) {
      list.prepend(item);
      htmx.process(item);
      item.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true, detail: { elt: item } }));
      this.after = Math.max(this.after, Number(item.dataset.id));
    }
    document.querySelector(".empty")?.remove();
    // Keep the scroll position.
    if (before < 0) scrollBy(0, first.getBoundingClientRect().top - before);
  }
}

// A message that is opened is read. The request outlives the page; the link is a plain link.
function markOpened(event) {
  const link = event.target.closest?.("a[data-mark]");
  if (!link || event.button > 1) return;
  const headers = { "HX-Request": "true" };
  fetch(link.dataset.mark, { method: "POST", keepalive: true, headers, body: new URLSearchParams({ status: "true" }) });
  delete link.dataset.mark;
  link.closest("li")?.classList.remove("unread");
}
for (const kind of ["click", "auxclick"]) document.addEventListener(kind, markOpened);

document.addEventListener("click", (event) => {
  if (!event.target.closest("#arrived a[href='#items']")) return;
  event.preventDefault();
  document.querySelector("fd-inbox")?.insert(true);
  document.getElementById("arrived").replaceChildren();
  document.getElementById("main").scrollIntoView();
  document.querySelector("#items .through")?.focus({ preventScroll: true });
});

// After a message is deleted, the keyboard focus moves to the next one.
document.addEventListener("htmx:beforeSwap", (event) => {
  const item = event.detail.target;
  if (!item.matches?.("#items > li") || !item.contains(document.activeElement)) return;
  const next = item.nextElementSibling ?? item.previousElementSibling;
  document.addEventListener("htmx:afterSettle", () => {
    if (document.activeElement === document.body) next?.querySelector(".through")?.focus();
  }, { once: true });
});

// Next to the list, the deletion of a message opens the next one.
document.addEventListener("click", ({ target }) => {
  const { then } = target.closest("#delete_item")?.form.elements ?? {};
  if (then) then.disabled = !document.getElementById("items")?.offsetParent;
});

// The list next to a message stays where it is, and shows the message's row.
let top = 0;
const panel = () => document.querySelector(".split aside .panel");
document.addEventListener("htmx:beforeSwap", () => top = panel()?.scrollTop ?? 0);
function showRow() {
  panel()?.scrollTo(0, top);
  document.querySelector("#items > [aria-current]")?.scrollIntoView({ block: "nearest" });
}
document.addEventListener("htmx:afterSettle", ({ detail }) => detail.target === document.body && showRow());
document.addEventListener("htmx:historyRestore", showRow);
showRow();

customElements.define("fd-inbox", Inbox);
