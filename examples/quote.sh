#!/bin/sh
# From a Plan to what a buyer, a rack crew and a network team need: drawings, import files, a priced workbook, a report.
set -eu
kvplan=${KVPLAN:-kvplan}
out=${1:-quote}
here=$(dirname "$0")
mkdir -p "$out"

# The system as IBM published it: eight storage nodes, three switches, four GPU servers.
$kvplan size --model openai/gpt-oss-120b --context 130k --gpus 16 --profile standard-8 -o "$out/plan.json" > /dev/null

$kvplan network "$out/plan.json" --build "$here/build.yaml"
$kvplan network "$out/plan.json" --build "$here/build.yaml" -o "$out/fabric.svg"
$kvplan network "$out/plan.json" --build "$here/build.yaml" --format ptm -o "$out/topology.dot"
$kvplan network "$out/plan.json" --build "$here/build.yaml" --format netbox-csv -o "$out/netbox"

# The prices are made up. Fill a CSV export with your own, and read it back with --prices. Bill and report are given the
# same prices, discounts and day, so that both show the same total.
set -- "$out/plan.json" --build "$here/build.yaml" --price-book "$here/price-book.yaml" --date 2026-11-30 \
    --discount 12% --discount services=0%
$kvplan bom "$@" -o "$out/quote.xlsx"
$kvplan report "$@" -o "$out/report.html"
