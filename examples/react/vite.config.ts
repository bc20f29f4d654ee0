import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  server: {
    // In development, the page and the API have one origin, as behind the proxy in production.
    proxy: { "/api": "http://127.0.0.1:5000" },
  },
});
