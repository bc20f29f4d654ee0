// Shows times in the user's time zone and locale. The style `ago` shows times of the last day relatively.

// The browser's regional variant of the page's language.
const { lang } = document.documentElement;
const language = navigator.languages.find((each) => each.split("-")[0] === lang.split("-")[0]) ?? lang;
const day = { day: "numeric", month: "short", year: "numeric" };
const full = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" });
const styles = {
  "": new Intl.DateTimeFormat(language, { ...day, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
  day: new Intl.DateTimeFormat(language, day),
};
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
const units = [["second", 60], ["minute", 60], ["hour", 24]];

function ago(moment) {
  let distance = (moment - Date.now()) / 1000;
  for (const [unit, most] of units) {
    if (Math.abs(distance) < most) return relative.format(Math.round(distance), unit);
    distance /= most;
  }
  return styles.day.format(moment);
}

export function inZone(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const { style = "" } = element.dataset;
    element.textContent = style === "ago" ? ago(moment) : (styles[style] ?? styles[""]).format(moment);
    element.title = full.format(moment);
  }
}

setInterval(() => document.hidden || inZone(document), 60_000);
