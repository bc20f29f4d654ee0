// Selected rows of a list: "select all" on this page or of the list, and the number of selected rows.
const list = "form[data-selection]";

const rows = (form) => [...form.elements].filter((input) => !form.contains(input));

function update(form) {
  const boxes = rows(form);
  const count = boxes.filter((box) => box.checked).length;
  const page = form.querySelector("[data-select-all]");
  const all = form.elements.all?.checked ?? false;
  page.checked = boxes.length > 0 && count === boxes.length;
  page.indeterminate = count > 0 && count < boxes.length;
  form.querySelector("output").textContent = all ? form.dataset.selection : String(count);
  // More accounts than a change can include.
  for (const button of form.querySelectorAll(".actions button:not([data-unlimited])")) button.disabled = all && "limited" in form.dataset;
}

document.addEventListener("change", ({ target }) => {
  const { form } = target;
  if (!form?.matches(list)) return;
  const { all } = form.elements;
  if (target.matches("[data-select-all]") || target === all) {
    for (const input of rows(form)) input.checked = target.checked;
  }
  if (all && !target.checked) all.checked = false;
  update(form);
});
document.addEventListener("reset", ({ target }) => {
  if (!target.matches(list)) return;
  // After the browser has cleared the boxes, and the bar with the focused button is hidden.
  setTimeout(() => {
    update(target);
    rows(target)[0]?.focus();
  });
});
// The browser restores the selection of a page of its history; rows come and go.
for (const kind of ["pageshow", "htmx:afterSettle"]) addEventListener(kind, () => document.querySelectorAll(list).forEach(update));
// The address of the list has only the filters with a value, and not each row if all are selected.
document.addEventListener("formdata", ({ target, formData }) => {
  if (target.method !== "get") return;
  if (target.elements.all?.checked) formData.delete("account");
  for (const [name, value] of [...formData]) if (!value) formData.delete(name);
});
