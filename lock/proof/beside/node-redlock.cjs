// A process that locks with node-redlock. Its arguments are the key, the judge's URL and those of the servers.
const Redis = require("ioredis");
const { default: Redlock } = require("redlock");

const [key, judgeURL, target, ...servers] = process.argv.slice(2);
const judge = new Redis(judgeURL);
const clients = servers.map((url) => new Redis(url));
const redlock = new Redlock(clients, { retryCount: -1, retryDelay: 3, retryJitter: 3 });
redlock.on("error", () => {}); // each refused try is one

async function work() {
  while (Number(await judge.get("entered")) < Number(target)) {
    const lock = await redlock.acquire([key], 30000);
    await judge.incr("entered");
    await judge.incr("entered:old");
    if ((await judge.incr("inside")) !== 1) await judge.incr("overlaps");
    await new Promise((done) => setTimeout(done, 1));
    await judge.decr("inside");
    await lock.release();
  }
  await Promise.all([judge, ...clients].map((c) => c.quit()));
}

work().catch((err) => {
  console.error(err);
  process.exit(1);
});
