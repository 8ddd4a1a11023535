#!/bin/sh
# Prints each frame of Lockscope's board as it comes. Needs wscat: npm install --global wscat
#
#   LOCKSCOPE_TOKEN=… sh live.sh ws://127.0.0.1:3000
set -eu
exec wscat --connect "${1:-ws://127.0.0.1:3000}/api/v1/live" --subprotocol lockscope.v1.json \
  ${LOCKSCOPE_TOKEN:+--header "Authorization: Bearer $LOCKSCOPE_TOKEN"} \
  --wait -1 --execute '{"type":"subscribe","id":1,"view":{"kind":"board","sort":"path"}}'
