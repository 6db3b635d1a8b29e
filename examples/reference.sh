#!/bin/sh
# The reference request of IBM Redbook MD260021: save a Plan, explain a number, ask for more tolerance, compare.
set -eu
kvplan=${KVPLAN:-kvplan}
out=${1:-quote}
mkdir -p "$out"

# $kvplan stays unquoted below: it may be several words, such as "python -m kvplan".
$kvplan size --model openai/gpt-oss-120b --context 130k --gpus 128 -o "$out/plan.json"
$kvplan explain "$out/plan.json" profile.read_bytes_per_s

$kvplan size --model openai/gpt-oss-120b --context 130k --gpus 128 --survive node+drive \
    -o "$out/survive.json" --format json > /dev/null
$kvplan diff "$out/plan.json" "$out/survive.json"

$kvplan kv --model openai/gpt-oss-120b --context 130k --concurrency 28 --gpu rtx-pro-6000
$kvplan ece --nodes 8 --drives-per-node 16 --drive-tb 7.68 --code 8+3P
