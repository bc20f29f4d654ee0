import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  server: {
    // One origin for the page and the API, as behind the proxy in production.
    proxy: { "/api": "http://127.0.0.1:5000" },
  },
});
