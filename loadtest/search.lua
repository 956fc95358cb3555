-- wrk: closed-loop searches from a file of JSON bodies, one a line, each sent once in turn; prints one JSON line.
-- The environment names the rest: SEARCH_BODIES, SEARCH_TOKEN, SEARCH_PATH.
local bodies, position = {}, 0
for line in io.lines(os.getenv("SEARCH_BODIES")) do bodies[#bodies + 1] = line end
local headers = {
  ["Authorization"] = "Bearer " .. os.getenv("SEARCH_TOKEN"),
  ["Content-Type"] = "application/json",
}

request = function()
  position = position % #bodies + 1
  return wrk.format("POST", os.getenv("SEARCH_PATH"), headers, bodies[position])
end

done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"bytes":%d,"p50_ms":%.3f,"p95_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
