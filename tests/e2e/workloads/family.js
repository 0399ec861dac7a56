// A process with two worker threads and a child with one: every one of the five burns the same CPU
// time in a function of its own name.
'use strict';
const { fork } = require('child_process');
const { Worker, isMainThread, workerData } = require('worker_threads');
const { runInThisContext } = require('vm');

function burn(name, ms) {
  const hot = runInThisContext(`(function hot_${name}(rounds) {
    let sum = 0;
    for (let i = 0; i < rounds; i++)
      sum = (sum * 31 + i) | 0;
    return sum;
  })`);
  const end = process.cpuUsage().user + ms * 1000;
  while (process.cpuUsage().user < end)
    hot(100000);
}

function start(name) {
  return new Promise((resolve) => new Worker(__filename, { workerData: name }).on('exit', resolve));
}

async function main() {
  if (process.argv[2] === 'child') {
    await start('childworker');
    burn('child', 400);
    return;
  }
  await new Promise((resolve) => fork(__filename, ['child']).on('exit', resolve));
  await start('worker1');
  await start('worker2');
  burn('main', 400);
}

if (isMainThread)
  main();
else
  burn(workerData, 400);
