// The site's search, on the index that Sphinx writes: it replaces Sphinx's ranking, which finds only
// pages with all words of a question. Here each word counts the more the fewer pages have it, most of
// all in a heading, and a page appears once, with the section that fits best.
"use strict";

{
  const words = (text) => text.split(/[^\p{Letter}\p{Number}_]+/u).filter(Boolean);

  // Words of a question that describe no page.
  const IGNORED = new Set(
    words("a an and are be can do does for frontdesk from get has have how i in is it me my need of on or our own " +
      "should that the their them this to use used using want we what when where which who why with you your"),
  );

  // Readers' words, and the words of the pages. Phrases become a single word first.
  const PHRASES = [
    [/\bsign(?:ing|ed)?[ -]?up\b/g, "register"],
    [/\b(?:log(?:ging|ged)?|sign(?:ing|ed)?)[ -]?in(?:to)?\b/g, "login"],
    [/\b(?:log(?:ging|ged)?|sign(?:ing|ed)?)[ -]?out\b/g, "logout"],
    [/\be-?mails?\b|\bmails?\b/g, "email"],
  ];
  const SYNONYMS = {
    "2fa": "mfa", "two": "mfa", admin: "root", angular: "spa", auth0: "openid", aws: "s3", close: "closed",
    current_user: "current_account", customize: "custom customize change", db: "database", delete: "deletion erase",
    disable: "closed off", edit: "change", error: "errors", gdpr: "privacy", github: "openid", google: "openid",
    impersonate: "impersonation", jwt: "token", k8s: "kubernetes", log_out: "logout", login: "sign",
    login_required: "account_required", login_user: "sign", logout: "sign", logout_user: "sign", model: "table",
    mysql: "mariadb", nextjs: "spa", oauth: "openid sso", oidc: "openid", organization: "workspace",
    organizations: "workspaces", permission: "permissions", phone: "device devices", postgres: "postgresql",
    psql: "postgresql", react: "spa", register: "registration sign", saml: "sso", svelte: "spa", team: "workspace",
    teams: "workspaces", tenant: "tenancy workspace", throttle: "rate", unlock: "lockout", user: "account",
    users: "accounts", vue: "spa", webhook: "webhooks signals", webhooks: "signals",
  };

  // Pages about the project mention everything, so that they come after the others.
  const ASIDE = /^(index|changes|asvs|licences|contributing|architecture|performance|glossary|http-api\/schemas|decisions\/)/;
  const MOST_RESULTS = 20;

  const stemmer = new Stemmer();
  const stems = new Map();
  const stem = (word) => {
    const lower = word.toLowerCase();
    if (!stems.has(lower)) stems.set(lower, stemmer.stemWord(lower));
    return stems.get(lower);
  };
  const list = (files) => (files === undefined ? [] : [].concat(files));

  // A question as a list of words, each with all stems that stand for it.
  const read = (question) => {
    let text = question.toLowerCase();
    for (const [phrase, word] of PHRASES) text = text.replace(phrase, word);
    const asked = words(text);
    const telling = asked.filter((word) => !IGNORED.has(word));
    return (telling.length ? telling : asked).map((word) => {
      const others = Object.hasOwn(SYNONYMS, word) ? words(SYNONYMS[word]) : [];
      return { word, stems: [...new Set([word, ...others].map(stem))] };
    });
  };

  // The pages with a stem; longer words that begin with it count if no page has the stem itself.
  const pagesWith = (terms, wanted) => {
    if (Object.hasOwn(terms, wanted)) return list(terms[wanted]);
    if (wanted.length < 3) return [];
    return Object.keys(terms).filter((term) => term.startsWith(wanted)).flatMap((term) => list(terms[term]));
  };

  let sections = null;
  const readSections = (index) => {
    sections ??= Object.entries(index.alltitles).flatMap(([title, places]) => {
      const named = new Set(words(title).filter((word) => !IGNORED.has(word.toLowerCase())).map(stem));
      return places.map(([page, id]) => ({ page, id, title, named }));
    });
    return sections;
  };

  // Weigh the words of a question: a rare word says more than a frequent one.
  const weigh = (index, question) =>
    read(question).map(({ word, stems }) => {
      const pages = new Map();
      stems.forEach((each, position) => {
        for (const page of [...pagesWith(index.terms, each), ...pagesWith(index.titleterms, each)])
          if (!pages.has(page)) pages.set(page, position === 0 ? 1 : 0.7);
      });
      const weight = Math.log(1 + index.docnames.length / (pages.size || 1));
      return { word, stems, pages, weight };
    });

  const isNamed = (section, asked) => {
    const found = asked.stems.findIndex((each) => section.named.has(each));
    return found === -1 ? 0 : found === 0 ? 1 : 0.8;
  };

  // The names of the reference (settings, classes, functions) that a question consists of.
  const objectsNamed = (index, question) => {
    const asked = new Set(question.toLowerCase().split(/[\s()]+/));
    const found = [];
    for (const [prefix, entries] of Object.entries(index.objects))
      for (const [page, kind, , anchor, name] of entries) {
        const full = prefix ? `${prefix}.${name}` : name;
        const last = full.toLowerCase().split(/\.|__/).pop();
        if (!asked.has(full.toLowerCase()) && !(asked.has(last) && /_|^\w+$/.test(question.trim()))) continue;
        const type = index.objnames[kind];
        const id = anchor === "" ? full : anchor === "-" ? `${type[1]}-${full}` : anchor;
        const place = `${type[2]}, in ${index.titles[page]}`;
        found.push({ page, title: full, anchor: `#${id}`, place, score: last.includes("_") ? 100 : 12, kind: "object" });
      }
    return found;
  };

  const rank = (index, question) => {
    const asked = weigh(index, question);
    const total = asked.reduce((sum, each) => sum + each.weight, 0);
    const best = new Map();
    for (const section of readSections(index)) {
      const hits = asked.map((each) => each.weight * isNamed(section, each));
      const hit = hits.reduce((sum, each) => sum + each, 0);
      if (hit === 0) continue;
      const isPage = section.title === index.titles[section.page];
      // A heading that has other words besides those asked for is about something narrower.
      const share = hits.filter(Boolean).length / Math.max(section.named.size, 1);
      const score = (hit / total) * (isPage ? 8 : 5) * (0.6 + 0.4 * Math.min(share, 1));
      if (score > (best.get(section.page)?.score ?? 0)) best.set(section.page, { ...section, isPage, score });
    }
    return index.docnames.flatMap((name, page) => {
      const covered = asked.reduce((sum, each) => sum + each.weight * (each.pages.get(page) ?? 0), 0) / total;
      if (!covered) return [];
      const section = best.get(page);
      const score = (5 * covered ** 2 + (section?.score ?? 0)) * (ASIDE.test(name) ? 0.5 : 1);
      const inside = section && !section.isPage && section.id !== null;
      const title = inside ? `${index.titles[page]} > ${section.title}` : index.titles[page];
      return [{ page, title, anchor: inside ? `#${section.id}` : "", place: null, score, kind: inside ? "title" : "text" }];
    });
  };

  // Sphinx takes the results from the end of the list.
  Search._performSearch = (question) => {
    const index = Search._index;
    const found = [...rank(index, question), ...objectsNamed(index, question)];
    found.sort((a, b) => b.score - a.score || a.title.localeCompare(b.title));
    return found
      .slice(0, MOST_RESULTS)
      .reverse()
      .map((each) => [
        index.docnames[each.page], each.title, each.anchor, each.place, each.score, index.filenames[each.page], each.kind,
      ]);
  };
}
