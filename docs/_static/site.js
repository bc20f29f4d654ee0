// Scrolls the navigation to the current page, and lets the keyboard scroll wide tables and code.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const navigation = document.querySelector(".sidebar-scroll");
  const current = document.querySelector(".sidebar-tree .current-page");
  if (navigation && current) {
    const distance = current.getBoundingClientRect().top - navigation.getBoundingClientRect().top;
    navigation.scrollTo({ top: distance - navigation.clientHeight / 3, behavior: "instant" });
  }

  const boxes = document.querySelectorAll("article table.docutils, article .highlight pre, article dt.sig");
  const mark = () => {
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  mark();
  addEventListener("resize", mark);
});
