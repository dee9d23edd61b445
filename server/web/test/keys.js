// What somebody does who has no pointer.

import assert from "node:assert/strict";

/** The most steps between two things on a page. */
const MOST = 80;

/** Moves the focus by Tab until it is on what has this accessible name, and checks that the focus is seen. */
export async function reach(page, role, name) {
  const wanted = page.getByRole(role, { name, exact: true }).first();
  await wanted.waitFor();
  for (let n = 0; n < MOST; n += 1) {
    if (await wanted.evaluate((element) => element === document.activeElement)) {
      const outline = await wanted.evaluate((element) => getComputedStyle(element).outlineStyle);
      assert.notEqual(outline, "none", `the focus on ${name} cannot be seen`);
      return wanted;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`${MOST} steps do not reach the ${role} ${name}`);
}

/** Types into a field instead of what it has. */
export async function type(page, name, text) {
  await reach(page, "textbox", name);
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
}

/** Presses a button. */
export async function press(page, name) {
  await reach(page, "button", name);
  await page.keyboard.press("Enter");
}

/** What can have the focus in the view, as far as it is shown. */
const STOPS = "a[href], button, input:not([type=radio]), select, textarea, summary, [tabindex='0']";

/** Goes through a page by Tab, and checks that everything in the view that can be used gets the focus, and is seen to have it. */
export async function walk(page) {
  const wanted = await page.evaluate((stops) => {
    const shown = [...document.querySelectorAll(`main :is(${stops})`)].filter((one) => one.checkVisibility() && !one.disabled);
    shown.forEach((one, n) => one.setAttribute("data-stop", String(n)));
    document.activeElement?.blur();
    return shown.length;
  }, STOPS);
  const reached = new Set();
  // Before the view there are the navigation and the bar at the top.
  for (let n = 0; n < wanted + MOST && reached.size < wanted; n += 1) {
    await page.keyboard.press("Tab");
    const [stop, outline, what] = await page.evaluate(() => {
      const here = document.activeElement;
      return [here.getAttribute("data-stop"), getComputedStyle(here).outlineStyle, here.outerHTML];
    });
    if (stop === null) continue;
    assert.notEqual(outline, "none", `${page.url()}: the focus cannot be seen on ${what}`);
    reached.add(stop);
  }
  const missed = Array.from({ length: wanted }, (_, n) => String(n)).filter((stop) => !reached.has(stop));
  const nameOf = (stop) => page.evaluate((at) => document.querySelector(`[data-stop="${at}"]`)?.outerHTML ?? at, stop);
  const names = await Promise.all(missed.map(nameOf));
  assert.deepEqual(names, [], "not reached by Tab");
  return wanted;
}
