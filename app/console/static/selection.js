// Selected rows of a list: "select all" on this page, and the number of selected rows.
const list = "form[data-selection]";

function update(form) {
  const boxes = [...form.elements].filter((input) => input.name === "account");
  const count = boxes.filter((box) => box.checked).length;
  const all = form.querySelector("[data-select-all]");
  all.checked = boxes.length > 0 && count === boxes.length;
  all.indeterminate = count > 0 && count < boxes.length;
  form.querySelector("output").textContent = String(count);
}

document.addEventListener("change", ({ target }) => {
  const { form } = target;
  if (!form?.matches(list)) return;
  if (target.matches("[data-select-all]")) {
    for (const input of form.elements) if (input.name === "account") input.checked = target.checked;
  }
  update(form);
});
// The browser restores the selection of a page of its history.
addEventListener("pageshow", () => document.querySelectorAll(list).forEach(update));
// The address of the list has only the filters with a value.
document.addEventListener("formdata", ({ target, formData }) => {
  if (target.method === "get") for (const [name, value] of [...formData]) if (!value) formData.delete(name);
});
