#!/bin/sh
# Sends the events that the jq program $1 makes of the body in the file $BODY to `phaseline serve` at $PHASELINE_URL.
set -eu
events=$(jq -c -f "$1" "$BODY")
[ "$events" != "[]" ] || exit 0
answer=$(printf %s "$events" | curl -sS --fail-with-body --max-time 30 "$PHASELINE_URL/v1/events" \
  -H "Authorization: Bearer ${PHASELINE_TOKEN:-}" -H "Content-Type: application/cloudevents-batch+json" --data-binary @-)
printf '%s\n' "$answer"
printf %s "$answer" | jq -e 'all(.results[]; has("problem") | not)' > /dev/null
