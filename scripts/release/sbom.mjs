// Completes a software bill of materials (CycloneDX) and prints it, the same for the same sources wherever they are:
//
//   node sbom.mjs FOLDER TREE RUST.json             of crates
//   node sbom.mjs FOLDER TREE RUST.json NPM.json    of an npm package with modules made of crates
//
// FOLDER is where the sources are, TREE what `cargo tree` lists of the crates that are really built: cargo-cyclonedx also lists what
// only tests use, because the features of a workspace are one to it.
import { readFileSync } from "node:fs";

const [folder, tree, rustFile, npmFile] = process.argv.slice(2);
const rust = JSON.parse(readFileSync(rustFile, "utf8").replaceAll(`file://${folder}`, "file:///railgate"));
// A line is `name v1.2.3`, and more if it is not from the registry.
const built = new Set(readFileSync(tree, "utf8").split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));

rust.components = rust.components.filter(({ name, version }) => built.has(`${name} v${version}`));
const kept = new Set([rust.metadata.component["bom-ref"], ...rust.components.map((one) => one["bom-ref"])]);
rust.dependencies = rust.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn?.filter((one) => kept.has(one)) }));

if (npmFile === undefined) {
  console.log(JSON.stringify(rust, null, 1));
} else {
  const npm = JSON.parse(readFileSync(npmFile, "utf8"));
  // Made anew in every run.
  delete npm.serialNumber;
  npm.metadata.timestamp = rust.metadata.timestamp;
  npm.metadata.tools.push(...rust.metadata.tools);
  // npm takes the name of the folder.
  npm.metadata.component.name = npm.metadata.component.purl.replace(/^pkg:npm\/(.*)@.*$/, "$1");
  const modules = rust.metadata.component;
  const packaged = npm.metadata.component["bom-ref"];
  npm.dependencies.find(({ ref }) => ref === packaged).dependsOn.push(modules["bom-ref"]);
  npm.components.push(modules, ...rust.components);
  npm.dependencies.push(...rust.dependencies);
  console.log(JSON.stringify(npm, null, 1));
}
