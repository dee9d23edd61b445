// What a server has in common with the sandbox. test/node/gateway.test.js runs the same program there.
import { test } from "node:test";
import { program } from "../program.js";
import { enrolled } from "./server.js";

test("a program for any gateway runs against a server", async (t) => {
  const { client } = await enrolled(t);
  await program(client);
});
