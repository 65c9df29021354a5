import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  // The window loads its files from a folder, not from the root of a server.
  base: './',
  server: { host: '127.0.0.1', port: 5180, strictPort: true },
  build: { target: 'es2022', sourcemap: false, chunkSizeWarningLimit: 1_000 },
  // Components are tested as a browser runs them; a test reads a page of docs/.
  ...(process.env['VITEST'] ? { resolve: { conditions: ['browser'] }, server: { fs: { allow: ['..'] } } } : {}),
  test: { environment: 'jsdom', include: ['src/**/*.test.ts'], testTimeout: 60_000 },
});
