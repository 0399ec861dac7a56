<?php
// Two functions that take the same CPU time.

function hot_one(int $rounds): int
{
    $sum = 0;
    for ($i = 0; $i < $rounds; $i++)
        $sum = ($sum * 31 + $i) & 0xffffff;
    return $sum;
}

function hot_two(int $rounds): int
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

foreach (['hot_one', 'hot_two'] as $hot) {
    $end = cpu() + 0.6;
    while (cpu() < $end)
        $hot(100000);
}
