// Walks through the pages of the demo as a person does, and looks at each kind of page: by
// axe-core in light and dark, narrow and wide, for shifts of the layout, for what scrolls
// sideways, and for what the policy of the page forbids.
//
//	node walk.js BROWSER ADDRESS [FOLDER]
//
// FOLDER gets screenshots. It goes on after a page that is not as it must be, and fails at the end.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import axe from "axe-core";
import puppeteer from "puppeteer-core";

const [executablePath, start, folder] = process.argv.slice(2);
const narrow = 390, wide = 1400;
const patience = 120_000; // ms, for one step, where other work goes on

// What a person does with a link or a form. Both ways of it lead to the same pages.
const mouse = {
  name: "mouse",
  skip: () => {},
  follow: (page, link) => loaded(page, () => link.click()),
  async send(page, input, text) {
    await input.click();
    await input.type(text);
    const button = await input.evaluateHandle(i => i.form.querySelector("button"));
    await loaded(page, () => button.click());
  },
};
const keyboard = {
  name: "keyboard",
  async skip(page) { // from the first link of a page to its content
    await tabTo(page, await page.$(".skip"));
    await page.keyboard.press("Enter");
    await tabTo(page, await page.$("main [href], main input"));
  },
  async follow(page, link) {
    await tabTo(page, link);
    await loaded(page, () => page.keyboard.press("Enter"));
  },
  async send(page, input, text) {
    await tabTo(page, input);
    await page.keyboard.type(text);
    await loaded(page, () => page.keyboard.press("Enter"));
  },
};

async function loaded(page, act) {
  const [answer] = await Promise.all([page.waitForNavigation({ waitUntil: "load" }), act()]);
  return answer;
}

// tabTo presses Tab until an element has the focus, and looks that each on the way is seen to have it.
async function tabTo(page, element) {
  for (let presses = 0; presses < 400; presses++) {
    await page.keyboard.press("Tab");
    const [there, seen, what] = await element.evaluate(e => {
      const at = document.activeElement, box = at.getBoundingClientRect(), style = getComputedStyle(at);
      const shown = at === document.body || style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
      return [at === e, shown && box.width > 0 && box.right > 0 && box.top < innerHeight, at.outerHTML.slice(0, 100)];
    });
    assert(seen, `the focus is not seen on ${what}`);
    if (there) return;
  }
  assert.fail("Tab does not lead to the element");
}

// link returns the link of a text within a selector, the first of them.
async function link(page, text, within = "body") {
  const found = await page.evaluateHandle((text, within) => {
    const all = [...document.querySelectorAll(within + " a")];
    return all.find(a => text instanceof Object ? new RegExp(text.source).test(a.textContent) : a.textContent === text);
  }, text instanceof RegExp ? { source: text.source } : text, within);
  assert(found.asElement(), `no link ${text} within ${within} on ${page.url()}`);
  return found.asElement();
}

const heading = page => page.$eval("h1", h => h.textContent);
const text = (page, selector) => page.$$eval(selector, all => all.map(e => e.textContent).join("\n"));

// table returns the rows of the table below a heading: the texts of the cells, by column.
const table = (page, id) => page.evaluate(id => {
  const t = document.getElementById(id)?.closest("section").querySelector("table");
  if (!t) return [];
  const names = [...t.tHead.rows[0].cells].map(c => c.textContent);
  return [...t.tBodies[0].rows].map(r => Object.fromEntries([...r.cells].map((c, i) => [names[i], c.textContent])));
}, id);

// What a page at a version shows forever: its heading, tables and values. How many versions there
// are since, and whether there is a newer row, changes.
const lasting = page => text(page, "h1, table, pre");

const digits = s => Number(s.replace(/[^0-9]/g, ""));

// A Walk is one way through the pages.
class Walk {
  constructor(page, by) {
    Object.assign(this, { page, by, seen: new Map(), kinds: new Map() });
  }

  // on says what kind of page this is, with what it must be called.
  async on(kind, called) {
    const url = this.page.url(), is = await heading(this.page);
    called instanceof RegExp ? assert.match(is, called) : assert.equal(is, called);
    assert((await this.page.title()).startsWith(is), "the title is the heading");
    if (kind !== "overview") {
      const at = new URL(url).pathname.match(/\/l\/([A-Z2-7]{26})\/(v|diff)\/\d+/);
      assert(at, `${url} has no lineage and version`);
      this.lineage ??= at[1];
      assert.equal(at[1], this.lineage);
      this.seen.set(url, await lasting(this.page));
    }
    this.kinds.set(kind, url);
    console.log(`${this.by.name}: ${kind}: ${is}`);
  }

  async follow(text, within) {
    await this.by.follow(this.page, await link(this.page, text, within));
  }

  async send(name, text) {
    await this.by.send(this.page, await this.page.$(`input[name=${name}]`), text);
  }

  async all() {
    const { page } = this;
    await page.goto(start);
    await this.on("overview", "demo");
    assert((await table(page, "tables")).some(t => t.table === "jobs" && digits(t.rows) >= 100));
    await this.by.skip(page);

    // A version, and what it changed: one that changed a job that was there.
    await this.follow(/^\d+$/, "dl");
    for (let tries = 0; ; tries++) {
      assert(tries < 5, "no version changed a job");
      await this.on("version", /^Version \d+$/);
      this.version = digits(await heading(page));
      await this.follow("what it changed");
      const [job] = await table(page, "table-jobs");
      if (job?.what === "changed") {
        this.job = job;
        break;
      }
      await this.follow(`version ${this.version - 1}`, "main");
    }
    await this.on("difference", `From version ${this.version - 1} to ${this.version}`);
    assert.equal(this.job.revision, String(this.version));

    // A row in it, its history, and the row as it was.
    await this.follow(this.job.key, "main");
    await this.on("row", this.job.key);
    const now = await text(page, "pre");
    assert.equal(JSON.parse(now).Tries >= 1, true);
    const [tries] = (await table(page, `revision-${this.version}`)).filter(r => r.field === "Tries");
    assert.equal(Number(tries.after), JSON.parse(now).Tries);
    assert.equal(Number(tries.before), Number(tries.after) - 1);
    await this.follow(/^the row as it was at version/);
    await this.on("row before", this.job.key);
    assert.equal(JSON.parse(await text(page, "pre")).Tries, Number(tries.before));
    assert.match(await text(page, "main"), /The row was written again since\./);
    await page.goBack();
    await this.on("row", this.job.key);

    // The table, by its index.
    await this.follow("jobs", "nav");
    await this.on("table", "jobs");
    const rows = await table(page, "rows");
    assert.equal(rows.length, 50);
    await this.follow("forward");
    await this.on("table, forward", "jobs");
    assert.equal((await table(page, "rows")).some(r => r.key === rows[0].key), false);
    await this.follow("by index state");
    await this.on("table by an index", "jobs");
    assert.match(await text(page, "main"), /By index state, from place 0 of/);
    await this.send("key", this.job.key);
    await this.on("row", this.job.key);
    assert.equal(await text(page, "pre"), now, "a key leads to its row");

    // The memory at that version, a space, and a search in it.
    await this.follow(`version ${this.version}`, "nav");
    await this.on("version", `Version ${this.version}`);
    await this.follow("memory", ".links");
    await this.on("memory", "memory");
    await this.follow("agents", "main");
    await this.on("space of spaces", "agents");
    await this.follow(/^agent-\d$/, "main");
    await this.on("space", /^agent-\d$/);
    assert((await table(page, "entries")).length > 0);
    await this.send("words", "tea");
    await this.on("search", /^agent-\d$/);
    const hits = await table(page, "found");
    assert(hits.length > 0 && hits.every(h => h.value.includes("tea") && h.words === "tea"));
    assert.equal(await page.$eval("input[name=words]", i => i.value), "tea", "what was searched for can be changed");

    // An entry, its history, and the entry as it was: at a version that stays retained for long.
    const found = page.url();
    for (const hit of hits) {
      await this.follow(hit.key, "main");
      const past = await table(page, "history");
      assert(past.length > 0 && past[0].value === hit.value);
      const was = past.findLast(p => digits(p.version) > this.version / 2);
      if (!was) {
        await page.goto(found);
        continue;
      }
      await this.on("entry", hit.key);
      assert.equal(await text(page, "pre"), hit.value);
      await this.follow(was.version, "main table");
      await this.on("entry before", hit.key);
      assert.equal(await text(page, "pre"), was.value);
      break;
    }
    assert(this.kinds.has("entry before"), "no entry that is found has a past");

    // What is not there is said, with a way on.
    await page.goto(new URL("/", start));
    await this.send("version", "999999999");
    this.kinds.set("a version to come", page.url());
    assert.match(await text(page, "main"), /version 999999999 is not there yet: the latest is \d+/);
    await this.follow(/^version \d+$/, "main");
    await this.on("version", /^Version \d+$/);
    this.kinds.set("a version of the past", new URL(`/l/${this.lineage}/v/1`, start).href);
  }

  // again looks that each address of a version still shows what it showed.
  async again() {
    for (const [url, was] of this.seen) {
      await this.page.goto(url);
      assert.equal(await lasting(this.page), was, `${url} shows something else than before`);
    }
    console.log(`${this.by.name}: ${this.seen.size} addresses show the same as before`);
  }
}

async function open(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(patience);
  return page;
}

// watch collects what a page reports while it is loaded: shifts of its layout, and what its policy
// forbids.
async function watch(page) {
  const reports = [];
  page.on("console", m => reports.push(`${page.url()}: console: ${m.text()}`));
  page.on("pageerror", e => reports.push(`${page.url()}: ${e}`));
  page.on("requestfailed", r => reports.push(`${r.url()}: ${r.failure()?.errorText}`));
  await page.evaluateOnNewDocument(() => {
    window.shifted = 0;
    new PerformanceObserver(list => list.getEntries().forEach(e => { window.shifted += e.value; })).observe({ type: "layout-shift", buffered: true });
  });
  return reports;
}

// failedLoads are what the console says of a page with a status that is not 200.
const failedLoads = r => !/status of 4(04|10)/.test(r);

const failures = [];

// look looks at a page in one width and scheme, without and with axe.
async function look(browser, kind, url, width, scheme) {
  const what = `${kind}, ${width} px, ${scheme}`;
  const prepared = async () => {
    const page = await open(browser);
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    return page;
  };
  const page = await prepared();
  const reports = await watch(page);
  await page.goto(url, { waitUntil: "load" });
  const [shifted, sideways] = await page.evaluate(async () => {
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
    const e = document.scrollingElement;
    return [window.shifted, Math.max(e.scrollWidth, document.body.scrollWidth) - e.clientWidth];
  });
  if (shifted !== 0) failures.push(`${what}: the layout shifts by ${shifted}`);
  if (sideways > 0) failures.push(`${what}: the page scrolls sideways by ${sideways} px`);
  reports.filter(failedLoads).forEach(r => failures.push(`${what}: ${r}`));
  if (folder) await page.screenshot({ path: join(folder, `${kind.replace(/\W+/g, "-")}-${width}-${scheme}.png`), fullPage: true });
  await page.close();

  const examined = await prepared();
  await examined.setBypassCSP(true); // for axe alone
  await examined.goto(url);
  for (const v of await violations(examined)) {
    failures.push(`${what}: axe: ${v.id}: ${v.help}: ${v.nodes.map(n => n.target + " " + n.html.slice(0, 150)).slice(0, 3).join("; ")}`);
  }
  await examined.close();
}

// violations returns what axe finds on a page.
async function violations(page) {
  await page.addScriptTag({ content: axe.source });
  return (await page.evaluate(() => window.axe.run())).violations;
}

// sees looks that what a page must not have would be seen: it adds it to one.
async function sees(browser) {
  const bad = "<img src='https://example.com/x.png' width=1 height=300>";
  const examined = await open(browser);
  await examined.setBypassCSP(true);
  await examined.goto(start);
  assert.deepEqual(await violations(examined), []);
  await examined.evaluate(bad => document.querySelector("main").insertAdjacentHTML("afterbegin", bad), bad);
  assert((await violations(examined)).some(v => v.id === "image-alt"), "axe does not find an image without a text");
  await examined.close();

  const page = await open(browser);
  const reports = await watch(page);
  await page.goto(start);
  assert.deepEqual(reports, []);
  const shifted = await page.evaluate(async bad => {
    document.body.insertAdjacentHTML("afterbegin", bad);
    for (let i = 0; i < 10 && window.shifted === 0; i++) await new Promise(then => setTimeout(then, 50));
    return window.shifted;
  }, bad);
  assert(reports.some(r => /Content Security Policy/.test(r)), `a violation of the policy is not seen: ${reports}`);
  assert(shifted > 0, "a shift is not seen");
  await page.close();
}

if (folder) await mkdir(folder, { recursive: true });
const browser = await puppeteer.launch({
  executablePath,
  args: ["--no-sandbox"], // which root and CI may not have; the pages are our own
  timeout: patience,
  protocolTimeout: 5 * patience,
});
try {
  const walks = [];
  for (const by of [mouse, keyboard]) {
    const page = await open(browser);
    await page.setViewport({ width: wide, height: 900 });
    const reports = await watch(page);
    const walk = new Walk(page, by);
    await walk.all();
    reports.filter(failedLoads).forEach(r => failures.push(`${by.name}: ${r}`));
    walks.push(walk);
  }
  await sees(browser);
  for (const [kind, url] of walks[0].kinds) {
    for (const width of [narrow, wide]) {
      for (const scheme of ["light", "dark"]) await look(browser, kind, url, width, scheme);
    }
    console.log(`looked at: ${kind}`);
  }
  for (const walk of walks) await walk.again();
} finally {
  await browser.close();
}
if (failures.length > 0) {
  console.error(failures.join("\n"));
  console.error(`browser: ${failures.length} failures`);
  process.exit(1);
}
console.log("browser: all is well");
