// Crops a picture to a square before its upload: by dragging, with the wheel, or with keys. A file that
// the browser cannot read is sent unchanged, and the server validates it.

const SIDE = 512;
const STEP = 16;

class Picture extends HTMLElement {
  connectedCallback() {
    this.file = this.querySelector("[type=file]");
    this.canvas = this.querySelector("canvas");
    this.zoom = this.querySelector("[type=range]");
    this.file.addEventListener("change", () => this.read());
    this.zoom.addEventListener("input", () => this.draw());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("pointerdown", (event) => this.canvas.setPointerCapture(event.pointerId));
    this.canvas.addEventListener("pointermove", (event) => this.drag(event));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.by(-event.deltaY / 500);
    });
    // In the capture phase, before htmx and the browser read the form.
    this.closest("form").addEventListener("submit", (event) => this.sending(event), true);
  }

  async read() {
    this.image?.close();
    this.image = null;
    const [file] = this.file.files;
    try {
      this.image = file && await createImageBitmap(file);
    } catch {
      // Not a picture, or an unknown format.
    }
    this.canvas.hidden = this.zoom.disabled = this.zoom.parentElement.hidden = !this.image;
    if (!this.image) return;
    this.zoom.value = 1;
    this.x = this.y = 0;
    this.draw();
  }

  // x and y: the offset of the picture's center from the square's, in pixels of the square.
  draw() {
    const { width, height } = this.image;
    const scale = (SIDE / Math.min(width, height)) * this.zoom.value;
    const [w, h] = [width * scale, height * scale];
    const within = (value, size) => Math.max(-(size - SIDE) / 2, Math.min((size - SIDE) / 2, value));
    [this.x, this.y] = [within(this.x, w), within(this.y, h)];
    const context = this.canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.clearRect(0, 0, SIDE, SIDE);
    context.drawImage(this.image, (SIDE - w) / 2 + this.x, (SIDE - h) / 2 + this.y, w, h);
  }

  by(more) {
    this.zoom.value = Number(this.zoom.value) + more;
    this.draw();
  }

  move(x, y) {
    this.x += x;
    this.y += y;
    this.draw();
  }

  key(event) {
    const action = {
      ArrowLeft: () => this.move(-STEP, 0),
      ArrowRight: () => this.move(STEP, 0),
      ArrowUp: () => this.move(0, -STEP),
      ArrowDown: () => this.move(0, STEP),
      "+": () => this.by(0.1),
      "-": () => this.by(-0.1),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  drag(event) {
    if (!event.buttons) return;
    const scale = SIDE / this.canvas.clientWidth;
    this.move(event.movementX * scale, event.movementY * scale);
  }

  // Replace the file with the cropped square, then submit the form.
  sending(event) {
    if (!this.image) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const { form } = this.file;
    const [{ name, type }] = this.file.files;
    // PNG keeps transparency.
    const kind = type === "image/jpeg" ? type : "image/png";
    this.canvas.toBlob((blob) => {
      const files = new DataTransfer();
      if (blob) files.items.add(new File([blob], name, { type: kind }));
      if (blob) this.file.files = files.files;
      this.image = null;
      // forms.js has marked the form as sent.
      form.removeAttribute("aria-busy");
      form.requestSubmit();
    }, kind, 0.92);
  }
}

customElements.define("fd-picture", Picture);
