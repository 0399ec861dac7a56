// A cluster of three processes: each burns the same CPU time in a function of its own name.
'use strict';
const cluster = require('cluster');
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

if (cluster.isPrimary) {
  cluster.fork({ HOT: 'first' });
  cluster.fork({ HOT: 'second' });
  burn('primary', 400);
} else {
  burn(process.env.HOT, 400);
  process.exit();
}
