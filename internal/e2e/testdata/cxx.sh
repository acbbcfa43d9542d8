#!/bin/sh
# A compiler for tests that build projects over and over: REAL compiles the runtime and what is generated once only, since it
# is the same in all projects of a test. KEPT is the folder for that. With SLOW_KERNELS, the object of a kernel comes late:
# when the next run, without that, in the same folder has made its own, or after a second.
# BROKEN says what goes wrong: a kernel fails in silence, the compiler is killed over it, or it leaves half an object; the
# linker leaves half a library.
input='' output='' deps='' before=''
for word; do
  case $before in
    -c) input=$word ;;
    -o) output=$word ;;
    -MF) deps=$word ;;
  esac
  before=$word
done
half() {
  echo half >"$output"
  kill -9 $$
}
case $BROKEN,$input,$output in
  silence,csrc/*) exit 1 ;;
  killed,csrc/*) kill -9 $$ ;;
  object,csrc/* | library,,?*) half ;;
esac
kept=KEPT/${input##*/}
case $input in
  '' | */build_id.cc) exec REAL "$@" ;;
  csrc/*) kept=$kept.$(cat csrc/*.h "$input" | cksum | tr ' ' .) ;;
esac
if test ! -e "$kept.d"; then
  REAL "$@" || exit
  cp "$output" "$kept.$$" && mv "$kept.$$" "$kept.o"
  sed '1s/^[^:]*://' "$deps" >"$kept.$$" && mv "$kept.$$" "$kept.d"
  exit
fi
made=''
case $input in csrc/*) made=KEPT/made$(pwd | tr / .) ;; esac
if test -n "$made" && test -n "$SLOW_KERNELS"; then
  rm -f "$made"
  turns=0
  until test -e "$made" || test $turns = 50; do sleep 0.02 && turns=$((turns + 1)); done
fi
cp "$kept.o" "$output" && { printf '%s:' "$output" && cat "$kept.d"; } >"$deps" || exit
test -z "$made" || : >"$made"
