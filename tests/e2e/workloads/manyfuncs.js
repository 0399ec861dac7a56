// Makes a WebAssembly module of COUNT functions, no two alike, and runs every one of them.
//   manyfuncs.js COUNT ROUNDS
'use strict';

const count = Number(process.argv[2]);
const rounds = Number(process.argv[3]);

function leb(value) {
  const bytes = [];
  do {
    bytes.push((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    value >>>= 7;
  } while (value);
  return bytes;
}

function sleb(value) {
  const bytes = [];
  for (;;) {
    const byte = value & 0x7f;
    value >>= 7;
    const done = (value === 0 && !(byte & 0x40)) || (value === -1 && (byte & 0x40));
    bytes.push(done ? byte : byte | 0x80);
    if (done)
      return bytes;
  }
}

function section(id, content) {
  return [[id], leb(content.length), content];
}

function concat(arrays) {
  const size = arrays.reduce((sum, array) => sum + array.length, 0);
  const all = new Uint8Array(size);
  let at = 0;
  for (const array of arrays) {
    all.set(array, at);
    at += array.length;
  }
  return all;
}

function vector(items) {
  return concat([leb(items.length), ...items]);
}

const I32 = 0x7f;
// (param i32) (result i32): a loop that counts local 0 down and mixes `i` into local 1.
function burner(i) {
  const code = [1, 1, I32,                                      // one more local
    0x03, 0x40,                                                 // loop
    0x20, 1, 0x41, 31, 0x6c, 0x41, ...sleb(i), 0x6a, 0x21, 1,   // sum = sum * 31 + i
    0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b,             // while (--rounds)
    0x20, 1, 0x0b];
  return [...leb(code.length), ...code];
}
// (param i32 i32) (result i32): calls the function of index local 0.
const dispatch = [0, 0x20, 1, 0x20, 0, 0x11, 0, 0, 0x0b];

const functions = Array.from({ length: count }, (_, i) => i);
const module_ = concat([
  [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, vector([[0x60, 1, I32, 1, I32], [0x60, 2, I32, I32, 1, I32]])),
  ...section(3, vector([...functions.map(() => [0]), [1]])),
  ...section(4, vector([[0x70, 0, ...leb(count)]])),
  ...section(7, vector([[3, 0x72, 0x75, 0x6e, 0, ...leb(count)]])),  // "run"
  ...section(9, vector([concat([[0, 0x41, 0, 0x0b], vector(functions.map(leb))])])),
  ...section(10, vector([...functions.map(burner), [...leb(dispatch.length), ...dispatch]])),
]);

const { run } = new WebAssembly.Instance(new WebAssembly.Module(module_)).exports;
for (let i = 0; i < count; i++)
  run(i, rounds);
