// axe.js PAGE...: what axe-core finds on each page, light and dark, on a wide and a narrow screen, and links to its headings that do not
// arrive. Exit code 1 where it finds something, or where the page's own script fails. NODE_PATH names the folder that holds axe-core and
// puppeteer-core; CHROMIUM the browser, or it is the one of @sparticuz/chromium, which is unpacked into TMPDIR.
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

async function executable() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  // Where the package believes to be in a container without a desktop, it unpacks the libraries of the browser, too.
  process.env.AWS_LAMBDA_JS_RUNTIME = "nodejs22.x";
  return require("@sparticuz/chromium").executablePath();
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
    executablePath: await executable(),
    headless: "shell",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  let failed = false;
  const views = process.argv.slice(2).flatMap((file) => SCHEMES.flatMap((scheme) => WIDTHS.map((width) => [file, scheme, width])));
  // Much of the time passes in waiting, so that as many views as there are schemes and widths are looked at side by side.
  const look = async () => {
    for (let view = views.shift(); view; view = views.shift()) {
      const complaints = await found(browser, ...view);
      failed ||= complaints.length > 0;
      console.log(`ci: axe: ${view[0]}, ${view[1]}, ${view[2]} pixels: ${complaints.length} findings`);
      for (const complaint of complaints.slice(0, 40)) console.log(`ci: axe:   ${complaint}`);
    }
  };
  await Promise.all(Array.from({ length: SCHEMES.length * WIDTHS.length }, look));
  await browser.close();
  process.exitCode = failed ? 1 : 0;
})();
