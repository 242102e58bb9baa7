// A process that locks with node-redlock. Its arguments are the key, the judge's URL and those of the servers.
const Redis = require("ioredis");
const { default: Redlock, ExecutionError } = require("redlock");

const [key, judgeURL, target, ...servers] = process.argv.slice(2);
const judge = new Redis(judgeURL);
const clients = servers.map((url) => new Redis(url));
// A retry of version 5 finds the keys of its own last try and takes them for somebody else's. So each try is an acquire.
const redlock = new Redlock(clients, { retryCount: 0 });
redlock.on("error", () => {}); // each refused try is one

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function acquire() {
  for (;;) {
    try {
      return await redlock.acquire([key], 30000);
    } catch (err) {
      if (!(err instanceof ExecutionError)) throw err;
      await pause(3 + 3 * Math.random());
    }
  }
}

async function work() {
  while (Number(await judge.get("entered")) < Number(target)) {
    const lock = await acquire();
    await judge.incr("entered");
    await judge.incr("entered:old");
    if ((await judge.incr("inside")) !== 1) await judge.incr("overlaps");
    await pause(1);
    await judge.decr("inside");
    await lock.release();
  }
  await Promise.all([judge, ...clients].map((c) => c.quit()));
}

work().catch((err) => {
  console.error(err);
  process.exit(1);
});
