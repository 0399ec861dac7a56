; Two functions that take the same CPU time. Their lines are those of this file.

define i32 @hot_one(i32 %rounds) noinline "frame-pointer"="all" !dbg !4 {
entry:
  br label %loop, !dbg !6
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %new, %loop ]
  %scaled = mul i32 %sum, 1103515245, !dbg !7
  %new = add i32 %scaled, %i, !dbg !7
  %next = add i32 %i, 1, !dbg !7
  %more = icmp ult i32 %next, %rounds, !dbg !7
  br i1 %more, label %loop, label %done, !dbg !7
done:
  ret i32 %new, !dbg !8
}

define i32 @hot_two(i32 %rounds) noinline "frame-pointer"="all" !dbg !9 {
entry:
  br label %loop, !dbg !10
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 1, %entry ], [ %new, %loop ]
  %scaled = mul i32 %sum, 1664525, !dbg !11
  %new = add i32 %scaled, %i, !dbg !11
  %next = add i32 %i, 1, !dbg !11
  %more = icmp ult i32 %next, %rounds, !dbg !11
  br i1 %more, label %loop, label %done, !dbg !11
done:
  ret i32 %new, !dbg !12
}

define i32 @main() "frame-pointer"="all" {
entry:
  br label %loop
loop:
  %turn = phi i32 [ 0, %entry ], [ %next, %loop ]
  %one = call i32 @hot_one(i32 100000)
  %two = call i32 @hot_two(i32 100000)
  %next = add i32 %turn, 1
  %more = icmp ult i32 %next, 3000
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "hot.ll", directory: ".")
!2 = !{i32 2, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "hot_one", file: !1, line: 3, type: !5, unit: !0)
!5 = !DISubroutineType(types: !{})
!6 = !DILocation(line: 5, scope: !4)
!7 = !DILocation(line: 9, scope: !4)
!8 = !DILocation(line: 15, scope: !4)
!9 = distinct !DISubprogram(name: "hot_two", file: !1, line: 18, type: !5, unit: !0)
!10 = !DILocation(line: 20, scope: !9)
!11 = !DILocation(line: 24, scope: !9)
!12 = !DILocation(line: 30, scope: !9)
