// The inbox keeps itself up to date while it is looked at: it asks for what is new, and hears
// nearly always that nothing is. What comes in never moves what somebody is reading.

const SECONDS = 20;

// In the title, and beside the rooms and the tab.
function showUnread(unread) {
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = unread ? `(${unread}) ${title}` : title;
  for (const place of document.querySelectorAll(".rooms [aria-current], .tabs a:last-child")) {
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
    this.timer = setInterval(() => this.look(), SECONDS * 1000);
    this.seen = () => this.look();
    document.addEventListener("visibilitychange", this.seen);
    for (const kind of ["pointerleave", "focusout"]) this.list.addEventListener(kind, () => this.put());
  }

  disconnectedCallback() {
    clearInterval(this.timer);
    document.removeEventListener("visibilitychange", this.seen);
  }

  get list() {
    return document.getElementById("items");
  }

  async look() {
    if (document.visibilityState !== "visible" || this.isLooking) return;
    this.isLooking = true;
    try {
      const headers = { "HX-Request": "true" };
      if (this.tag) headers["If-None-Match"] = this.tag;
      const answer = await fetch(`${this.dataset.url}&after=${this.after}`, { headers, cache: "no-store" });
      if (answer.status === 200) this.read(answer.headers.get("ETag"), await answer.text());
      // Whoever is signed out meanwhile finds the way back in.
      else if (answer.status === 401) location.reload();
    } catch {
      // The network is away; the next turn asks again.
    } finally {
      this.isLooking = false;
    }
  }

  read(tag, text) {
    const found = new DOMParser().parseFromString(text, "text/html").querySelector("[data-unread]");
    if (!found || !this.isConnected) return;
    this.tag = tag;
    showUnread(Number(found.dataset.unread));
    this.waiting = found.querySelector("ol");
    document.getElementById("arrived").replaceChildren(...found.querySelectorAll("p > a"));
    this.put();
  }

  // Not under somebody's pointer or focus: the button tells of them, and puts them in.
  put(isAsked = false) {
    const { list, waiting } = this;
    if (!waiting || (!isAsked && list.matches(":hover, :focus-within"))) return;
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
    // What one has scrolled down to stays where it is.
    if (before < 0) scrollBy(0, first.getBoundingClientRect().top - before);
  }
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("#arrived a[href='#items']")) return;
  event.preventDefault();
  document.querySelector("fd-inbox")?.put(true);
  document.getElementById("arrived").replaceChildren();
  document.getElementById("main").scrollIntoView();
  document.querySelector("#items .through")?.focus({ preventScroll: true });
});

// Where an item goes, whoever works by keyboard goes on with the next one.
document.addEventListener("htmx:beforeSwap", (event) => {
  const item = event.detail.target;
  if (!item.matches?.("#items > li") || !item.contains(document.activeElement)) return;
  const next = item.nextElementSibling ?? item.previousElementSibling;
  document.addEventListener("htmx:afterSettle", () => {
    if (document.activeElement === document.body) next?.querySelector(".through")?.focus();
  }, { once: true });
});

customElements.define("fd-inbox", Inbox);
