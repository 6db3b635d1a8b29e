#!/bin/sh
# A site's own tables and profile: a model that kvplan does not know, a measured hit share, a tier of six nodes.
set -eu
kvplan=${KVPLAN:-kvplan}
out=${1:-quote}
here=$(dirname "$0")
mkdir -p "$out"

# $kvplan stays unquoted below: it may be several words, such as "python -m kvplan".
$kvplan catalogue verify --catalogue "$here/site-tables"
$kvplan size --model acme-7b --context 32k --gpus 48 --concurrency 200 --survive 2-nodes \
    --catalogue "$here/site-tables" --profiles "$here/profiles" -o "$out/site.json"
$kvplan explain "$out/site.json" demand.write_bytes_per_s
