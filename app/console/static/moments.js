// Shows times in the user's time zone. The style `ago` shows times of the last day relatively. Others have
// the server's format: the account's time zone, otherwise the browser's, and the page's language.

const units = [["second", 60], ["minute", 60], ["hour", 24]];
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function formats() {
  const { lang } = document.documentElement;
  // For the complete time in the title: the browser's regional variant of the page's language.
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
const { cookie } = document.getElementById("time-format").dataset;
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const secure = cookie.startsWith("__Host-") ? ";secure" : "";
if (timeZone) document.cookie = `${cookie}=${timeZone};path=/;max-age=31536000;samesite=lax${secure}`;

setInterval(() => document.hidden || inZone(document), 60_000);
