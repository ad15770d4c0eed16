import { TestRunner } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";

// A test that looks into a machine has nothing to look into here.

ScriptedService.withoutDriver = () => TestRunner.getCurrentTest()!.context.skip("it looks into machines");

// Pods have a user of their own, who changes what tests put into homes.
process.umask(0);
