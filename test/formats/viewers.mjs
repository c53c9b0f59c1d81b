// What viewers of .heapsnapshot make of one: Chrome's DevTools, by the code of its
// Memory panel, or memlab.
//
//   node viewers.mjs MODULES devtools|memlab OUT SNAPSHOT [LATER]
//
// OUT is JSON: how many nodes and bytes there are, what each node retains by its
// id; of DevTools also what its Comparison with a LATER one says, by class.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, viewer, out, ...files] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), 'x.js'));

// What newer versions of node have.
Promise.withResolvers ??= () => {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

// DevTools is TypeScript for a browser's worker: its texts in other languages and
// its notion of where it runs are replaced.
async function devtools() {
  const worker = 'chrome-devtools-frontend/front_end/entrypoints/heap_snapshot_worker/';
  const code = path.join(modules, 'devtools.mjs');
  const stub = (text) => () => ({ contents: text, loader: 'js' });
  await require('esbuild').build({
    stdin: {
      contents: `export * from './${worker}HeapSnapshot.ts';
                 export * from './${worker}HeapSnapshotLoader.ts';`,
      resolveDir: path.join(modules, 'node_modules'),
    },
    bundle: true, platform: 'node', format: 'esm', outfile: code, logLevel: 'error',
    plugins: [{
      name: 'stubs',
      setup(build) {
        build.onResolve({ filter: /\/locales\.js$/ }, () => ({ path: 'locales', namespace: 'stub' }));
        build.onLoad({ filter: /.*/, namespace: 'stub' }, stub(
          `export const LOCALES = ['en-US'], BUNDLED_LOCALES = LOCALES, DEFAULT_LOCALE = 'en-US';
           export const REMOTE_FETCH_PATTERN = '', LOCAL_FETCH_PATTERN = '';`));
        build.onLoad({ filter: /core\/platform\/HostRuntime\.ts$/ }, stub(
          'export const IS_NODE = true, IS_BROWSER = false, HOST_RUNTIME = {};'));
      },
    }],
  });
  return import(pathToFileURL(code));
}

async function load(code, file) {
  const loader = new code.HeapSnapshotLoader({ sendEvent() {} });
  for await (const part of fs.createReadStream(file, 'utf8')) loader.write(part);
  loader.close();
  await loader.parsingComplete;
  const { port1, port2 } = new MessageChannel();
  new code.SecondaryInitManager(port2);
  return loader.buildSnapshot(port1);
}

async function by_devtools(file, later) {
  const code = await devtools();
  const snapshot = await load(code, file);
  const node = snapshot.createNode(0);
  const retained = {};
  for (let i = 0; i < snapshot.nodeCount; i++) {
    node.nodeIndex = i * snapshot.nodeFieldCount;
    retained[node.id()] = node.retainedSize();
  }
  const result = { nodes: snapshot.nodeCount, total: snapshot.totalSize, retained, diff: {} };
  if (later) {
    const aggregates = snapshot.aggregatesForDiff('[]');
    const diff = (await load(code, later)).calculateSnapshotDiff('first', aggregates);
    for (const d of Object.values(diff)) result.diff[d.name] = [d.addedCount, d.removedCount];
  }
  return result;
}

async function by_memlab(file) {
  const heap = await require('@memlab/heap-analysis').getFullHeapFromFile(file);
  const retained = {};
  let nodes = 0, total = 0;
  heap.nodes.forEach((node) => {
    nodes++;
    total += node.self_size;
    retained[node.id] = node.retainedSize;
  });
  return { nodes, total, retained };
}

const result = await (viewer === 'memlab' ? by_memlab : by_devtools)(...files);
fs.writeFileSync(out, JSON.stringify(result));
process.exit(0);
