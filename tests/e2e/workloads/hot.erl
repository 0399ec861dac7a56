% Two functions that take the same CPU time.
-module(hot).
-export([main/0]).

one(0, Sum) -> Sum;
one(N, Sum) ->
    one(N - 1, (Sum * 31 + N) band 16#ffffff).

two(0, Sum) -> Sum;
two(N, Sum) ->
    two(N - 1, ((Sum bxor (N bsl 3)) + (Sum bsr 5)) band 16#ffffff).

cpu() ->
    {Total, _} = statistics(runtime),
    Total.

% The result counts the turns, so that the call of F is no tail call.
burn(F, End, Turns) ->
    F(100000, 1),
    case cpu() < End of
        true -> burn(F, End, Turns + 1);
        false -> Turns
    end.

main() ->
    [burn(F, cpu() + 600, 0) || F <- [fun one/2, fun two/2]],
    halt(0).
