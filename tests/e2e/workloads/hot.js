// Two functions that take the same CPU time.
'use strict';

function hotOne(rounds) {
  let sum = 0;
  for (let i = 0; i < rounds; i++)
    sum = (sum * 31 + i) | 0;
  return sum;
}

function hotTwo(rounds) {
  let sum = 1;
  for (let i = 0; i < rounds; i++)
    sum = (sum ^ (i << 3)) + (sum >>> 5) | 0;
  return sum;
}

function burn(hot, ms) {
  const end = process.cpuUsage().user + ms * 1000;
  while (process.cpuUsage().user < end)
    hot(100000);
}

for (let turn = 0; turn < 5; turn++) {
  burn(hotOne, 150);
  burn(hotTwo, 150);
}
