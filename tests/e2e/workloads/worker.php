<?php
// Runs for a while in a function of which it gives the name, and tells who it is.

function hot_first(int $rounds): int
{
    $sum = 0;
    for ($i = 0; $i < $rounds; $i++)
        $sum = ($sum * 31 + $i) & 0xffffff;
    return $sum;
}

function hot_second(int $rounds): int
{
    $sum = 1;
    for ($i = 0; $i < $rounds; $i++)
        $sum = (($sum ^ ($i << 3)) + ($sum >> 5)) & 0xffffff;
    return $sum;
}

$hot = 'hot_' . $_SERVER['QUERY_STRING'];
$end = microtime(true) + 0.4;
while (microtime(true) < $end)
    $hot(10000);
echo 'pid ', getmypid();
