// Scores of the site's search: Sphinx' own, and a page is better the more of the question its title has.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  // Pages about the project, which mention everything.
  aside: /^(index|changes|asvs|licences|contributing|architecture|performance|glossary|decisions\/)/,

  words: (text) => text.toLowerCase().split(/[^\p{Letter}\p{Number}_]+/u).filter(Boolean),

  score: ([docname, title, , , score]) => {
    const question = new URLSearchParams(window.location.search).get("q") ?? "";
    const asked = Scorer.words(question).filter(
      (word) => word !== "frontdesk" && !stopwords.has(word),
    );
    const named = Scorer.words(title);
    // "limits" finds "limit", and "import" finds "imported".
    const isNamed = (word) =>
      named.some((name) => name.startsWith(word) || (name.length > 3 && word.startsWith(name)));
    const share = asked.filter(isNamed).length / Math.max(asked.length, 1);
    return score + 20 * share - (Scorer.aside.test(docname) ? 10 : 0);
  },
};
