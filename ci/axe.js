// axe.js PAGE...: what axe-core finds on each page, light and dark, on a wide and a narrow screen, and links to its headings that do not
// arrive. Exit code 1 where it finds something, or where the page's own script fails. NODE_PATH names the folder that holds axe-core and
// puppeteer-core, CHROMIUM the browser.
"use strict";
const puppeteer = require("puppeteer-core");
const path = require("path");

const axe = require.resolve("axe-core/axe.min.js");
const SCHEMES = ["light", "dark"];
const WIDTHS = [1400, 420];

// Links to headings of the page that do not arrive: a list above them may grow meanwhile.
async function missed(page) {
  const links = await page.$$eval('a[href^="#"]', (all) => [...new Set(all.map((link) => link.getAttribute("href")))]);
  const complaints = [];
  for (const link of links.filter((link) => /^#[a-z]+$/.test(link))) {
    const top = await page.evaluate(async (link) => {
      scrollTo(0, 0);
      document.querySelector(`a[href="${link}"]`).click();
      await new Promise((done) => setTimeout(done, 300));
      const target = document.querySelector(link);
      const end = Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight;
      return end ? 0 : target ? Math.round(target.getBoundingClientRect().top) : NaN;
    }, link);
    if (!(Math.abs(top) <= 100)) complaints.push(`${link} does not arrive: its target is ${top} pixels below the top`);
  }
  await page.evaluate(() => scrollTo(0, 0));
  return complaints;
}

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
  complaints.push(...await missed(page));
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
