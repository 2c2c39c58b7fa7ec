// axe.js PAGE...: what axe-core finds on each page, light and dark, on a wide and a narrow screen. Exit code 1 where it finds something,
// or where the page's own script fails. NODE_PATH names the folder that holds axe-core and puppeteer-core, CHROMIUM the browser.
"use strict";
const puppeteer = require("puppeteer-core");
const path = require("path");

const axe = require.resolve("axe-core/axe.min.js");
const SCHEMES = ["light", "dark"];
const WIDTHS = [1400, 420];

async function found(browser, file, scheme, width) {
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`the page's script failed: ${error}`));
  // The page allows no script from elsewhere, and axe is one.
  await page.setBypassCSP(true);
  await page.setViewport({ width, height: 1000 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(`file://${path.resolve(file)}`, { waitUntil: "load" });
  if (await page.$("#finding-data")) await page.waitForSelector("html[data-ready]");
  await page.addScriptTag({ path: axe });
  const result = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const violation of result.violations) {
    for (const node of violation.nodes) {
      const why = [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ");
      complaints.push(`${violation.id}: ${node.html.slice(0, 120)}: ${why}`);
    }
  }
  await page.close();
  return complaints;
}

(async () => {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  let failed = false;
  for (const file of process.argv.slice(2)) {
    for (const scheme of SCHEMES) for (const width of WIDTHS) {
      const complaints = await found(browser, file, scheme, width);
      failed ||= complaints.length > 0;
      console.log(`ci: axe: ${file}, ${scheme}, ${width} pixels: ${complaints.length} findings`);
      for (const complaint of complaints.slice(0, 40)) console.log(`ci: axe:   ${complaint}`);
    }
  }
  await browser.close();
  process.exitCode = failed ? 1 : 0;
})();
