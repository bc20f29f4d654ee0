// <frontdesk-inbox>: a bell with the number of new notifications, and a panel with the inbox.
// The guide "Show the inbox in your own pages" lists the attributes, parts, properties and events.

const PAGE = 20;
const MOST_ITEMS = 500;
const UNDO_SECONDS = 5;
const LEAST_POLL_SECONDS = 5;
const TIMEOUT_SECONDS = 20;
const HANDOVER_SECONDS = 1;
// A server that is away is asked again after at most this many intervals.
const LONGEST_PAUSE = 32;
const PANEL_WIDTH = 384;
const MARGIN = 8;

const TEXTS = {
  en: {
    title: "Notifications", new: { one: "{n} new notification", other: "{n} new notifications" }, unread: "Unread",
    markAll: "Mark all as read", read: "Mark as read", unmark: "Mark as unread", delete: "Delete",
    deleted: "Notification deleted", undo: "Undo", older: "Show older", preferences: "Notification settings",
    empty: "No notifications", loading: "Loading…", failed: "That did not work. Try again.",
    away: "The notifications cannot be loaded.", signedOut: "You are signed out.",
  },
  de: {
    title: "Benachrichtigungen", unread: "Ungelesen",
    new: { one: "{n} neue Benachrichtigung", other: "{n} neue Benachrichtigungen" },
    markAll: "Alle als gelesen markieren", read: "Als gelesen markieren", unmark: "Als ungelesen markieren",
    delete: "Löschen", deleted: "Benachrichtigung gelöscht", undo: "Rückgängig", older: "Ältere anzeigen",
    preferences: "Benachrichtigungseinstellungen", empty: "Keine Benachrichtigungen", loading: "Wird geladen …",
    failed: "Das hat nicht geklappt. Versuchen Sie es erneut.",
    away: "Die Benachrichtigungen können nicht geladen werden.", signedOut: "Sie sind abgemeldet.",
  },
  fr: {
    title: "Notifications", unread: "Non lue",
    new: { one: "{n} nouvelle notification", other: "{n} nouvelles notifications" },
    markAll: "Tout marquer comme lu", read: "Marquer comme lue", unmark: "Marquer comme non lue",
    delete: "Supprimer", deleted: "Notification supprimée", undo: "Annuler", older: "Afficher les plus anciennes",
    preferences: "Paramètres des notifications", empty: "Aucune notification", loading: "Chargement…",
    failed: "Une erreur est survenue. Réessayez.",
    away: "Impossible de charger les notifications.", signedOut: "Votre session est fermée.",
  },
  es: {
    title: "Notificaciones", unread: "No leída",
    new: { one: "{n} notificación nueva", other: "{n} notificaciones nuevas" },
    markAll: "Marcar todas como leídas", read: "Marcar como leída", unmark: "Marcar como no leída",
    delete: "Eliminar", deleted: "Notificación eliminada", undo: "Deshacer", older: "Mostrar anteriores",
    preferences: "Ajustes de notificaciones", empty: "No hay notificaciones", loading: "Cargando…",
    failed: "No ha funcionado. Inténtalo de nuevo.",
    away: "No se pueden cargar las notificaciones.", signedOut: "Tu sesión se cerró.",
  },
  ar: {
    title: "الإشعارات", unread: "غير مقروء",
    new: {
      one: "إشعار جديد واحد", two: "إشعاران جديدان", few: "{n} إشعارات جديدة", many: "{n} إشعارًا جديدًا",
      other: "{n} إشعار جديد",
    },
    markAll: "تحديد الكل كمقروء", read: "تحديد كمقروء", unmark: "تحديد كغير مقروء", delete: "حذف",
    deleted: "حُذف الإشعار", undo: "تراجع", older: "عرض الأقدم", preferences: "إعدادات الإشعارات",
    empty: "لا توجد إشعارات", loading: "جارٍ التحميل…", failed: "لم ينجح ذلك. حاول مرة أخرى.",
    away: "يتعذر تحميل الإشعارات.", signedOut: "لقد سُجِّل خروجك.",
  },
};

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
:host { display: inline-block; line-height: 1.4; }
:host([hidden]), [hidden] { display: none !important; }
:host([theme="light"]) { color-scheme: light; } :host([theme="dark"]) { color-scheme: dark; }
:host([theme="auto"]) { color-scheme: light dark; }
[part~="root"] {
  --back: light-dark(#fff, #1f2328); --text: light-dark(#1b1f24, #e6edf3); --quiet: light-dark(#555d66, #a9b3bd);
  --line: light-dark(#d0d7de, #3b4148); --hover: light-dark(#f3f5f7, #2a3037);
  --accent: var(--frontdesk-inbox-accent, light-dark(#0b57d0, #8ab4f8));
}
button, a { font: inherit; color: inherit; border: 0; background: none; padding: 0; cursor: pointer; }
button:disabled { cursor: default; opacity: .55; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 4px; }
svg { display: block; width: 1.25em; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; }
[part~="bell"] { position: relative; padding: .5em; min-width: 24px; }
[part~="badge"] {
  position: absolute; top: 0; inset-inline-start: 50%; min-width: 1.6em; padding-inline: .35em; box-sizing: border-box;
  border-radius: 1em; background: #b3261e; color: #fff; font-size: .72em; font-weight: 700; line-height: 1.6;
}
[part~="label"], [part~="status"] { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
[part~="panel"] {
  inset: auto; margin: 0; padding: 0; box-sizing: border-box; overflow: auto; overscroll-behavior: contain;
  border: 1px solid var(--line); border-radius: 10px; background: var(--back); color: var(--text);
  box-shadow: 0 8px 28px #0003; font-size: 1rem; text-align: start;
}
[part~="header"], [part~="footer"] { display: flex; flex-wrap: wrap; gap: .25em 1em; padding: .75em 1em; }
[part~="heading"] { margin-inline-end: auto; font-weight: 700; }
[part~="mark-all"], [part~="preferences"], [part~="older"], [part~="undo"] {
  color: var(--accent); text-decoration: underline; font-size: .9em; min-height: 24px;
}
[part~="note"] { margin: 0; padding: .75em 1em; color: var(--quiet); }
[part~="list"] { list-style: none; margin: 0; padding: 0; }
[part~="item"], [part~="deleted"], [part~="footer"] { border-top: 1px solid var(--line); }
[part~="item"], [part~="deleted"] { position: relative; display: flex; gap: .5em; padding: .75em 1em; }
[part~="deleted"] { justify-content: space-between; color: var(--quiet); }
[part~="item"]:hover { background: var(--hover); }
[part~="content"] { flex: 1; min-width: 0; overflow-wrap: anywhere; }
[part~="link"] { text-align: start; text-decoration: none; } a[part~="link"]:hover { text-decoration: underline; }
[part~="link"]::after { content: ""; position: absolute; inset: 0; } [part~="unread"] [part~="link"] { font-weight: 700; }
[part~="dot"] { flex: none; width: .55em; height: .55em; margin-top: .45em; border-radius: 50%; background: var(--accent); }
[part~="text"] {
  margin: .15em 0; font-size: .92em; white-space: pre-line; overflow: hidden;
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3;
}
[part~="expanded"] { display: block; }
[part~="time"] { color: var(--quiet); font-size: .85em; }
[part~="actions"] { display: flex; align-items: start; position: relative; z-index: 1; color: var(--quiet); }
[part~="actions"] button { padding: .3em; font-size: .9em; min-width: 24px; }
[part~="actions"] button:hover { color: var(--text); }
@media (forced-colors: active) { [part~="dot"], [part~="badge"] { border: 1px solid; } }
`);

const ICONS = {
  bell: "M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4",
  read: "M5 13l4 4L19 7",
  unmark: "M3 6h18v12H3zM3 7l9 6 9-6",
  delete: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
};

const UNITS = { year: 31_536_000, month: 2_592_000, week: 604_800, day: 86_400, hour: 3600, minute: 60, second: 1 };

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function button(part, act, ...children) {
  const made = make("button", { type: "button", part }, ...children);
  if (act) made.addEventListener("click", act);
  return made;
}

function icon(name) {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

// The API, with the cookie or with the tokens that `getToken` returns.
class Server {
  constructor(base, getToken) {
    Object.assign(this, { base, getToken, url: (path) => new URL(path, base) });
  }

  // A refused request is repeated once: it may have left while the cookie or the token was replaced.
  async send(method, path, options = {}) {
    const response = await this.#fetch(method, path, options);
    return response.status === 401 && !options.keepalive ? this.#fetch(method, path, options) : response;
  }

  async #fetch(method, path, { json, tag, keepalive = false }) {
    const headers = {};
    if (json) headers["Content-Type"] = "application/json";
    if (tag) headers["If-None-Match"] = tag;
    if (this.getToken) {
      // A page that is left does not wait for a new token.
      if (!keepalive || !this.token) this.token = await this.getToken();
      if (!this.token) return new Response(null, { status: 401 });
      headers.Authorization = `Bearer ${this.token}`;
    }
    return fetch(this.url(path), {
      method, headers, keepalive, cache: "no-store",
      body: json && JSON.stringify(json),
      credentials: this.getToken ? "omit" : "include",
      signal: keepalive ? null : AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    });
  }

  // Tabs with tokens of different accounts poll separately.
  async account() {
    const token = await this.getToken?.();
    if (!token) return "";
    try {
      return JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub;
    } catch {
      // An application's own kind of token.
      return token;
    }
  }
}

// Web Locks need a secure context. Without one, each tab polls for itself.
const locks = navigator.locks ?? { request: (_name, _options, lead) => lead() };

// Polls the counts. Of the visible tabs, one holds the lock and polls, and posts its state to the others.
class Poll {
  state = { counts: null, tag: null, failures: 0, due: 0, at: 0, changed: 0 };
  isStopped = false;
  isEnded = false;
  #turn = null;
  #wake = null;

  constructor(server, seconds, onState, onUnauthorized) {
    Object.assign(this, { server, seconds, onState, onUnauthorized });
  }

  async start() {
    // A token that cannot be read now is asked for again with each request.
    const account = await this.server.account().catch(() => "");
    if (this.isStopped) return;
    this.name = `frontdesk-inbox ${this.server.base} ${account}`;
    this.channel = new BroadcastChannel(this.name);
    this.channel.onmessage = ({ data }) => this.#receive(data);
    this.channel.postMessage("state?");
    document.addEventListener("visibilitychange", this.#compete);
    this.#compete();
  }

  stop() {
    this.isStopped = true;
    document.removeEventListener("visibilitychange", this.#compete);
    this.#turn?.abort();
    this.channel?.close();
  }

  end() {
    if (this.isStopped) return;
    this.isEnded = true;
    this.channel?.postMessage("unauthorized");
    this.stop();
    this.onUnauthorized();
  }

  #compete = () => {
    this.#turn?.abort();
    if (document.hidden) return;
    const { signal } = (this.#turn = new AbortController());
    locks.request(this.name, { signal }, () => this.#lead(signal)).catch((error) => {
      if (error.name !== "AbortError") throw error;
    });
  };

  async #lead(signal) {
    const { state } = this;
    this.isLeading = true;
    // A tab that was just opened or comes to the front asks at once, but not an absent server.
    if (!state.failures) state.due = Math.min(state.due, state.at + LEAST_POLL_SECONDS * 1000);
    signal.addEventListener("abort", () => this.#wake?.());
    while (!signal.aborted) {
      const wait = this.state.due - Date.now();
      if (wait > 0) await this.#pause(wait);
      else await this.ask();
    }
    this.isLeading = false;
    // The other tabs receive "unauthorized" before one of them gets the lock.
    if (this.isEnded) await this.#pause(HANDOVER_SECONDS * 1000);
  }

  #pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => resolve(clearTimeout(timer));
    });
  }

  // Reads the counts. With a new `changed`, the other tabs load their lists again.
  async ask(changed = this.state.changed) {
    const response = await this.server
      .send("GET", "unread-count", { tag: this.state.tag })
      .catch(() => new Response(null, { status: 503 }));
    if (response.status === 401) return this.end();
    const counts = response.ok ? await response.json().catch(() => null) : this.state.counts;
    const isFailed = response.status !== 304 && !(response.ok && counts);
    const failures = isFailed ? this.state.failures + 1 : 0;
    let pause = this.seconds * 1000 * Math.min(2 ** failures, LONGEST_PAUSE);
    // Clients of a server that returns do not all come at the same moment.
    if (isFailed) pause = Math.max(pause, retryAfter(response)) * (1 + Math.random() / 4);
    this.set({
      counts: isFailed ? this.state.counts : counts,
      tag: response.ok ? response.headers.get("ETag") : this.state.tag,
      failures, changed, due: Date.now() + pause, at: Date.now(),
    });
  }

  set(values) {
    if (this.isStopped) return;
    this.state = { ...this.state, ...values };
    this.channel?.postMessage(this.state);
    this.onState();
  }

  #receive(data) {
    if (data === "state?") {
      if (this.isLeading && this.state.at) this.channel.postMessage(this.state);
    } else if (data === "unauthorized") {
      this.stop();
      this.onUnauthorized();
    } else {
      this.state = data;
      this.onState();
    }
  }
}

function retryAfter(response) {
  const value = response.headers.get("Retry-After");
  return (Number(value) ? value * 1000 : Date.parse(value) - Date.now()) || 0;
}

class FrontdeskInbox extends HTMLElement {
  static observedAttributes = ["api", "lang", "poll"];
  #root = this.attachShadow({ mode: "open" });
  #parts = null;
  #texts = null;
  #formats = null;
  #getToken = null;
  #server = null;
  #poll = null;
  #connection = null;
  // The items of the panel, or null while they are not loaded.
  #items = null;
  #tag = null;
  #limit = PAGE;
  #hasMore = false;
  // What the list shows. An unchanged list is not rendered again.
  #content = "";
  // The key of the text above the list.
  #note = "";
  // The id of the newest item, and the counts, that were shown last.
  #seenId = 0;
  #unseen = 0;
  #shown = "";
  #deletions = new Map();
  #expanded = new Set();

  // An async function that returns an access token. Without it, the browser sends its cookie.
  get getToken() {
    return this.#getToken;
  }

  set getToken(value) {
    this.#getToken = value;
    this.refresh();
  }

  // Starts again, for example after a sign-in.
  refresh() {
    if (this.#poll) this.#start();
  }

  connectedCallback() {
    // A property that was set before this module was loaded hides the accessor.
    if (Object.hasOwn(this, "getToken")) {
      this.#getToken = this.getToken;
      delete this.getToken;
    }
    this.#parts ??= this.#build();
    this.#translate();
    const { signal } = (this.#connection = new AbortController());
    addEventListener("pagehide", () => this.#sendDeletions(), { signal });
    for (const kind of ["resize", "scroll"]) addEventListener(kind, () => this.#place(), { passive: true, signal });
    // The page's deferred scripts run first: they may set `getToken`.
    const startOnce = () => this.#poll ?? this.#start();
    if (document.readyState === "complete") startOnce();
    else for (const kind of ["DOMContentLoaded", "load"]) addEventListener(kind, startOnce, { signal });
  }

  disconnectedCallback() {
    this.#sendDeletions();
    this.#poll?.stop();
    this.#poll = null;
    this.#connection.abort();
  }

  attributeChangedCallback(name) {
    if (name !== "lang") this.refresh();
    else if (this.#parts) this.#translate();
  }

  #start() {
    this.#poll?.stop();
    const api = this.getAttribute("api")?.replace(/\/+$/, "");
    const base = api === undefined ? new URL("../../", import.meta.url) : new URL(`${api}/notifications/`, document.baseURI);
    const seconds = Math.max(LEAST_POLL_SECONDS, Number(this.getAttribute("poll")) || 30);
    this.#server = new Server(base, this.#getToken);
    this.#poll = new Poll(this.#server, seconds, () => this.#showState(), () => this.#endSession());
    this.#parts.preferences.href = this.#server.url("element/preferences");
    this.#forget();
    this.#poll.start();
    if (this.#isOpen) this.#load();
  }

  #forget(note = "") {
    this.#items = this.#tag = null;
    this.#limit = PAGE;
    this.#seenId = this.#unseen = 0;
    this.#render(note);
    this.#showCounts();
  }

  #endSession() {
    this.#forget("signedOut");
    this.#emit("unauthorized");
  }

  #emit(name, options) {
    return this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, ...options }));
  }

  get #isOpen() {
    return this.#parts.panel.matches(":popover-open");
  }

  // ---- Display ----

  #build() {
    const badge = make("span", { part: "badge", ariaHidden: "true", hidden: true });
    const label = make("span", { part: "label" });
    const bell = button("bell", null, icon("bell"), label, badge);
    const status = make("span", { part: "status", role: "status" });
    const heading = make("span", { part: "heading" });
    const markAll = button("mark-all", () => this.#markAll());
    const note = make("p", { part: "note" });
    const list = make("ul", { part: "list", role: "list" });
    const preferences = make("a", { part: "preferences", rel: "noopener" });
    const older = button("older", () => this.#loadOlder());
    const header = make("div", { part: "header" }, heading, markAll);
    const footer = make("div", { part: "footer" }, preferences, older);
    const panel = make("section", { part: "panel", popover: "auto" }, header, note, list, footer);
    const root = make("div", { part: "root" }, bell, status, panel);
    bell.popoverTargetElement = panel;
    panel.addEventListener("beforetoggle", () => {
      this.#place();
      // Focus inside the panel would be lost when it closes.
      if (panel.contains(this.#root.activeElement)) bell.focus();
    });
    panel.addEventListener("toggle", () => this.#toggle());
    this.#root.adoptedStyleSheets = [STYLE];
    this.#root.append(root);
    return { root, bell, label, badge, status, heading, markAll, note, list, preferences, older, panel };
  }

  #toggle() {
    this.#parts.bell.ariaExpanded = String(this.#isOpen);
    if (!this.#isOpen || !this.#poll) return;
    // The user may have signed in again.
    if (this.#poll.isStopped) this.#start();
    else this.#load();
  }

  #translate() {
    const wanted = this.closest("[lang]")?.lang || document.documentElement.lang;
    const language = wanted.split("-")[0].toLowerCase();
    this.#texts = TEXTS[language] ?? TEXTS.en;
    // The regions of other languages would not fit the English texts.
    const locale = this.#texts === TEXTS[language] ? Intl.DateTimeFormat.supportedLocalesOf(wanted)[0] ?? language : "en";
    this.#formats = {
      numbers: new Intl.NumberFormat(locale),
      plurals: new Intl.PluralRules(locale),
      ago: new Intl.RelativeTimeFormat(locale, { numeric: "auto" }),
      dates: new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "short" }),
    };
    const { root, heading, panel, list, ...parts } = this.#parts;
    Object.assign(root, { lang: locale, dir: language === "ar" ? "rtl" : "ltr" });
    heading.textContent = panel.ariaLabel = list.ariaLabel = this.#texts.title;
    for (const name of ["markAll", "older", "preferences"]) parts[name].textContent = this.#texts[name];
    this.#showCounts();
    this.#render();
  }

  // Below the bell, aligned with its end, and inside the window.
  #place() {
    const { bell, panel, root } = this.#parts;
    const box = bell.getBoundingClientRect();
    const width = Math.min(PANEL_WIDTH, innerWidth - 2 * MARGIN);
    const left = root.dir === "rtl" ? box.left : box.right - width;
    const top = Math.max(MARGIN, Math.min(box.bottom + 4, innerHeight / 2));
    Object.assign(panel.style, {
      width: `${width}px`, top: `${top}px`, maxHeight: `${innerHeight - top - MARGIN}px`,
      left: `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`,
    });
  }

  #showState() {
    const { counts, changed } = this.#poll.state;
    const before = this.#unseen;
    this.#showCounts();
    this.#showTimes();
    const shown = `${counts?.unread} ${changed}`;
    const isNews = shown !== this.#shown || this.#unseen > before || this.#note === "away";
    if (this.#isOpen && isNews) this.#load();
    this.#shown = shown;
  }

  #showCounts() {
    const { unread = 0, unseen = 0 } = (!this.#poll?.isStopped && this.#poll?.state.counts) || {};
    const { label, badge, markAll, status } = this.#parts;
    const form = this.#texts.new[this.#formats.plurals.select(unseen)] ?? this.#texts.new.other;
    const text = form.replace("{n}", this.#formats.numbers.format(unseen));
    badge.hidden = !unseen;
    badge.textContent = unseen > 99 ? `${this.#formats.numbers.format(99)}+` : this.#formats.numbers.format(unseen);
    label.textContent = unseen ? text : this.#texts.title;
    markAll.disabled = !unread;
    if (unseen > this.#unseen) status.textContent = text;
    this.#unseen = unseen;
  }

  #showTimes() {
    for (const time of this.#parts.list.querySelectorAll("time")) {
      const seconds = Math.max(0, (Date.now() - Date.parse(time.dateTime)) / 1000);
      const [unit, size] = Object.entries(UNITS).find(([, size]) => seconds >= size) ?? ["second", 1];
      // Less than a minute is now.
      time.textContent = this.#formats.ago.format(unit === "second" ? 0 : -Math.floor(seconds / size), unit);
    }
  }

  #render(note = this.#note) {
    this.#note = note;
    const { list, older, panel } = this.#parts;
    const text = this.#texts[note || (this.#items?.length === 0 ? "empty" : "")] ?? "";
    Object.assign(this.#parts.note, { textContent: text, hidden: !text });
    older.hidden = !this.#hasMore || !this.#items?.length;
    const content = JSON.stringify([this.#items, [...this.#deletions.keys()], [...this.#expanded], this.#parts.root.lang]);
    if (content === this.#content) return;
    this.#content = content;
    const focused = this.#root.activeElement;
    const rows = [...list.children];
    const index = rows.findIndex((row) => row.contains(focused));
    list.replaceChildren(...(this.#items ?? []).map((item) => this.#row(item)));
    this.#showTimes();
    if (index < 0) return;
    // The focus stays on its item, or goes to the one that takes its place.
    const { id } = rows[index].dataset;
    const same = [...list.children].find((row) => row.dataset.id === id);
    const row = same ?? list.children[index] ?? list.lastElementChild ?? panel;
    (row.querySelector(`[part="${focused.getAttribute("part")}"]`) ?? row.querySelector("a, button:enabled")).focus();
  }

  #row(item) {
    const texts = this.#texts;
    const row = make("li", { part: item.is_read ? "item" : "item unread" });
    row.dataset.id = item.id;
    if (this.#deletions.has(item.id)) {
      row.part = "deleted";
      row.append(texts.deleted, button("undo", () => this.#undo(item), texts.undo));
      return row;
    }
    const act = (part, name, action) => Object.assign(button(part, action, icon(name)), {
      title: texts[name], ariaLabel: `${texts[name]}: ${item.title}`,
    });
    const text = make("p", { part: "text" }, make("bdi", {}, item.message));
    text.part.toggle("expanded", this.#expanded.has(item.id));
    const title = this.#formats.dates.format(Date.parse(item.created_at));
    const time = make("time", { part: "time", dateTime: item.created_at, title });
    const toggle = act("read", item.is_read ? "unmark" : "read", () => this.#mark(item, !item.is_read));
    if (!item.is_read) row.append(make("span", { part: "dot", role: "img", ariaLabel: texts.unread }));
    row.append(
      make("div", { part: "content" }, this.#title(item), text, time),
      make("div", { part: "actions" }, toggle, act("delete", "delete", () => this.#delete(item))),
    );
    return row;
  }

  // A link, or without one a button that shows the whole text.
  #title(item) {
    const url = item.links.open && this.#server.url(item.links.open);
    // The server accepts only such links. Another one must not run a script either.
    const href = /^https?:$/.test(url?.protocol) ? url.href : null;
    const title = href ? make("a", { href, rel: "noopener" }) : make("button", { type: "button" });
    if (!href) title.ariaExpanded = String(this.#expanded.has(item.id));
    Object.assign(title, { part: "link", dir: "auto", textContent: item.title });
    for (const kind of ["click", "auxclick"]) title.addEventListener(kind, (event) => this.#open(event, item, href));
    return title;
  }

  // ---- What the user does ----

  async #load() {
    const server = this.#server;
    if (!this.#items) this.#render("loading");
    const response = await server
      .send("GET", `?limit=${this.#limit}`, { tag: this.#items && this.#tag })
      .catch(() => new Response(null, { status: 503 }));
    if (server !== this.#server) return;
    if (response.status === 401) return this.#poll.end();
    const items = response.ok ? await response.json().catch(() => null) : null;
    if (items) {
      // The rows refer to their items.
      if (JSON.stringify(items) !== JSON.stringify(this.#items)) this.#items = items;
      this.#tag = response.headers.get("ETag");
      this.#hasMore = this.#limit < MOST_ITEMS && response.headers.has("Link");
    }
    this.#render(items || response.status === 304 ? "" : "away");
    await this.#markSeen();
  }

  async #loadOlder() {
    const count = this.#items.length;
    this.#limit = Math.min(MOST_ITEMS, this.#limit + PAGE);
    await this.#load();
    this.#parts.list.children[count]?.querySelector("a, button").focus();
  }

  async #markSeen() {
    const id = this.#items?.[0]?.id ?? 0;
    if (!this.#isOpen || id <= this.#seenId) return;
    this.#seenId = id;
    const response = await this.#change("POST", "seen", { json: { id } });
    if (response?.ok) this.#poll.set({ counts: await response.json(), tag: null });
  }

  // Returns the response, or null after an error. An item that does not exist was deleted elsewhere.
  async #change(method, path, options) {
    const server = this.#server;
    const response = await server.send(method, path, options).catch(() => null);
    if (server !== this.#server) return null;
    if (response?.status === 401) this.#poll?.end();
    else if (response?.ok || response?.status === 404) return response;
    else this.#render("failed");
    return null;
  }

  #open(event, item, href) {
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (event.type === "auxclick" && event.button !== 1) return;
    // A new tab or window is the browser's.
    if (isPlain && !this.#emit("open", { detail: item, cancelable: true })) {
      event.preventDefault();
      this.#parts.panel.hidePopover();
    }
    if (!href && !this.#expanded.delete(item.id)) this.#expanded.add(item.id);
    if (!item.is_read) this.#mark(item, true, true);
    else this.#render();
  }

  async #mark(item, isRead, keepalive = false) {
    item.is_read = isRead;
    this.#render("");
    if (await this.#change("PATCH", `${item.links.mark}?status=${isRead}`, { keepalive })) this.#poll?.ask(Date.now());
    else Object.assign(item, { is_read: !isRead });
    this.#render();
  }

  async #markAll() {
    if (!(await this.#change("PATCH", "mark-all?status=true"))) return;
    for (const item of this.#items ?? []) item.is_read = true;
    this.#parts.preferences.focus();
    this.#render("");
    this.#poll?.ask(Date.now());
  }

  #delete(item) {
    this.#deletions.set(item.id, { item, timer: setTimeout(() => this.#sendDeletion(item), UNDO_SECONDS * 1000) });
    this.#parts.status.textContent = this.#texts.deleted;
    this.#render("");
  }

  #undo(item) {
    clearTimeout(this.#deletions.get(item.id).timer);
    this.#deletions.delete(item.id);
    this.#render();
  }

  async #sendDeletion(item, keepalive = false) {
    this.#undo(item);
    this.#items = this.#items?.filter((each) => each.id !== item.id) ?? null;
    this.#tag = null;
    this.#render();
    const isDeleted = await this.#change("DELETE", item.links.delete, { keepalive });
    if (isDeleted) this.#poll?.ask(Date.now());
    else if (!keepalive) await this.#load();
    if (!isDeleted && !keepalive && !this.#note) this.#render("failed");
  }

  // Before the page is left, while the browser can still send requests.
  #sendDeletions() {
    for (const { item } of [...this.#deletions.values()]) this.#sendDeletion(item, true);
  }
}

customElements.define("frontdesk-inbox", FrontdeskInbox);
