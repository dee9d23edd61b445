// Runtimes that compile modules ahead of time (condition `workerd`) import them.
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
