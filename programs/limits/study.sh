#!/bin/sh
# The programs of docs/limits-study.md, on inputs made here: prints the rows of its tables.
# Usage: study.sh WORKSPAN FOLDER, with an empty folder for the inputs.
# Needs: apt-get install qemu-user gcc python3 bzip2 sqlite3 lua5.4 libjpeg-turbo-progs libgsm-tools bc mawk
set -eu
workspan=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
mkdir -p "$2"
cd "$2"
cat "$here"/../*/*.c | head -c 120000 > text.c
head -c 80000 text.c > words.c
awk 'BEGIN { x = 1; for (i = 0; i < 8000; i++) { x = (x * 16807) % 2147483647; print x } }' > numbers
python3 - <<'P'
pixels = [((x * y) % 256, (x * 3 + y) % 256, (x - y) % 256) for y in range(96) for x in range(96)]
open("image.ppm", "wb").write(b"P6 96 96 255\n" + bytes(part for pixel in pixels for part in pixel))
P
awk 'BEGIN { for (i = 0; i < 8000; i++) printf "%c", 65 + 20 * sin(i / 7) + 15 * sin(i / 31) }' > sound.ul
{
    echo 'create table t(a integer, b text); begin;'
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "insert into t values(%d, \"row %d\");\n", i * 7919 % 3001, i }'
    echo 'commit; select sum(a) from t where b like "%7%"; select count(*) from (select a from t order by b);'
} > rows.sql
echo 'local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {} for i = 1, 500 do t[i] = i * 7919 % 503 end table.sort(t) print(fib(16), t[1])' > fib.lua
echo 'scale = 60; 4 * a(1)' > pi.bc
cat > quicksort.c <<'C'
static unsigned x = 1, a[20000];
static void sort(unsigned *from, unsigned *to)
{
    if (to - from < 2)
        return;
    unsigned pivot = from[(to - from) / 2], *l = from, *r = to - 1;
    while (l <= r) {
        while (*l < pivot) l++;
        while (*r > pivot) r--;
        if (l <= r) { unsigned t = *l; *l++ = *r; *r-- = t; }
    }
    sort(from, r + 1);
    sort(l, to);
}
int main(void)
{
    for (int i = 0; i < 20000; i++)
        a[i] = x = x * 1664525u + 1013904223u;
    sort(a, a + 20000);
    return a[0] > a[19999];
}
C
gcc -O1 -o quicksort quicksort.c
gcc -O2 -o floats "$here/floats.c" -lm
gcc -O2 -o records "$here/records.c"
cjpeg image.ppm > image.jpg
rm -f second

row() {
    name=$1
    input=$2
    shift 2
    "$workspan" limits --json=limits.json -- "$@" < "$input" > /dev/null
    python3 - "$name" <<'P'
import json, sys
answer = json.load(open("limits.json"))
found = {one["name"]: one["parallelism"] for one in answer["models"] + answer["control"]}
names = "TruNamCtl TruCtl TruNam Tru TruNamSp TruSp TruNoAddr TruMerge TruMergeSp TruMiss".split()
text = lambda value: f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
row = lambda cells: "| " + " | ".join([sys.argv[1], *cells]) + " |"
print(row([f"{answer['instructions'] / 1e6:.1f} M", *[text(found[name]) for name in names]]), flush=True)
of = lambda key, size, wanted: next(one["parallelism"] for one in answer[key] if one[size] == wanted)
cells = [text(of("windows", "window", 1 << size)) for size in (5, 8, 11, 14, 20)]
cells += [text(of("widths", "width", width)) for width in (4, 64)]
cells += [f"{answer['smoothability']['value']:.2f}", text(next(one["parallelism"] for one in answer["latency"] if one["name"] == "TruLatency"))]
cells += [text(one["parallelism"]) for one in answer["names"]]
cells += [f"{next(one['burstiness'] for one in answer['profile'] if one['model'] == 'Tru'):.1f}"]
slack = answer["slack"]
cells += [f"{100 * slack['waits'][0]['values'] / (slack['used'] + slack['unused']):.0f} %"]
open("second", "a").write(row(cells) + "\n")
P
}

row '`gzip` of 120 kB of C' text.c gzip -c
row '`bzip2` of the same' text.c bzip2 -c
row '`sha256sum` of the same' text.c sha256sum
row '`sort` of 8000 numbers' numbers sort
row '`sqlite3`, 3000 rows, two queries' rows.sql sqlite3 :memory:
row '`lua5.4`, fib(16) and a sort' /dev/null lua5.4 fib.lua
row '`cjpeg` of 96 × 96 pixels' image.ppm cjpeg
row '`djpeg` of the same' image.jpg djpeg
row '`toast` (GSM 06.10) of one second of sound' sound.ul toast -u
row 'quicksort of 20 000 numbers, in C' /dev/null ./quicksort
row '`floats` of `programs/limits`, 200 rounds' /dev/null ./floats 200
row '`records` of the same, 2000 rounds' /dev/null ./records 2000
row '`bc`, π to 60 digits' pi.bc bc -lq
row '`mawk`, words of 80 kB of C' words.c mawk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print w, n[w] }'
echo
cat second
