// Two functions that take the same time, in JavaScriptCore's own shell.
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

noInline(hotOne);
noInline(hotTwo);

function burn(hot, ms) {
  const end = Date.now() + ms;
  while (Date.now() < end)
    hot(100000);
}

// There is no clock of CPU time: in short turns, what else the machine does takes the same of both.
for (let turn = 0; turn < 75; turn++) {
  burn(hotOne, 10);
  burn(hotTwo, 10);
}
