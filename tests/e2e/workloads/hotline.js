// One line of a function takes most of its time.
'use strict';

function spin(rounds) {
  let sum = 1;
  for (let i = 0; i < rounds; i++) {
    sum = (sum + i) | 0;
    sum = Math.sqrt(Math.sqrt(Math.sqrt(Math.sqrt(Math.sqrt(Math.sqrt(sum * sum + 2)))))) * 1000;
    sum = (sum ^ i) | 0;
  }
  return sum;
}

const end = process.cpuUsage().user + 800000;
while (process.cpuUsage().user < end)
  spin(100000);
