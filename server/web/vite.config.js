import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { documentation } from "./docs/plugin.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "/",
  publicDir: false,
  // The npm package as built beside this folder; its exports have the names of its files.
  resolve: {
    alias: [
      { find: /^railgate\/(.+)$/, replacement: here("../../bindings-wasm/npm/dist/$1.js") },
      { find: /^railgate$/, replacement: here("../../bindings-wasm/npm/dist/index.js") },
    ],
  },
  plugins: [documentation()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "build",
    emptyOutDir: true,
    // Both sites take their assets from one place, so that a visitor of both loads what they share once.
    assetsDir: "console/assets",
    assetsInlineLimit: 0,
    target: "es2023",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Which file is made of what: for the budget.
    manifest: true,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: { console: here("console/index.html"), docs: here("docs/index.html") },
      // Making the pages of the documentation takes most of a build, as it should.
      checks: { pluginTimings: false },
    },
  },
});
