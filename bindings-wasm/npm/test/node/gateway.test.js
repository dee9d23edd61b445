// What the sandbox has in common with a server. test/live/gateway.test.js runs the same program against one.
import { test } from "node:test";
import { Sandbox } from "railgate";
import { program } from "../program.js";

test("a program for any gateway runs in a sandbox", async () => program(await Sandbox.open()));
