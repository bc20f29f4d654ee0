// Shows times in the time zone of the account, otherwise of the browser, and in the server's format. The
// style `ago` shows times of the last day relatively.

const units = [["second", 60], ["minute", 60], ["hour", 24]];
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function formats() {
  const { lang } = document.documentElement;
  // For the title: the browser's regional variant of the page's language.
  const language = navigator.languages.find((each) => each.split("-")[0] === lang.split("-")[0]) ?? lang;
  const { zone, months, day, time } = document.getElementById("time-format").dataset;
  const timeZone = zone || undefined;
  const numbers = new Intl.DateTimeFormat("en", {
    year: "numeric", month: "numeric", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone,
  });
  const full = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long", timeZone });
  const read = (moment) => Object.fromEntries(numbers.formatToParts(moment).map(({ type, value }) => [type, value]));
  const inDays = (at) => fill(day, { ...at, month: months.split(" ")[at.month - 1] });
  return {
    relative: new Intl.RelativeTimeFormat(lang, { numeric: "auto" }),
    full: (moment) => full.format(moment),
    day: (moment) => inDays(read(moment)),
    time(moment) {
      const at = read(moment);
      return fill(time, { date: inDays(at), time: `${at.hour}:${at.minute}` });
    },
  };
}

function ago(moment, format) {
  let distance = (moment - Date.now()) / 1000;
  for (const [unit, most] of units) {
    if (Math.abs(distance) < most) return format.relative.format(Math.round(distance), unit);
    distance /= most;
  }
  return format.day(moment);
}

export function inZone(root) {
  const format = formats();
  for (const element of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const { style } = element.dataset;
    element.textContent = style === "ago" ? ago(moment, format) : (format[style] ?? format.time)(moment);
    element.title = format.full(moment);
  }
}

// The server uses the browser's time zone if the account has none.
store(document.getElementById("time-format").dataset.cookie, Intl.DateTimeFormat().resolvedOptions().timeZone);

export function store(name, value) {
  document.cookie = `${name}=${value};path=/;max-age=31536000;samesite=lax${name[0] === "_" ? ";secure" : ""}`;
}

setInterval(() => document.hidden || inZone(document), 60_000);
