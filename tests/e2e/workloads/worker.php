<?php
// Takes some CPU time in a function of which it gives the name, and tells who it is.

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

function cpu(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_utime.tv_usec'] / 1e6;
}

$hot = 'hot_' . $_SERVER['QUERY_STRING'];
$end = cpu() + 0.4;
while (cpu() < $end)
    $hot(10000);
echo 'pid ', getmypid();
